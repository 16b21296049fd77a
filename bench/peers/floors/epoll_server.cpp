// bench/peers/floors/epoll_server.cpp: servers as one writes them on a bare epoll.
#include "floors/questions.hpp"
#include "floors/sockets.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace {

using floors::connection;
using floors::require;

/// Level-triggered.
class epoll_server {
public:
  explicit epoll_server(std::size_t buffer) : buffer_(buffer), listener_(floors::listen()) {
    require(epoll_ >= 0, "epoll_create1");
    watch(listener_, nullptr);
  }
  ~epoll_server() {
    ::close(epoll_);
    ::close(listener_);
  }
  epoll_server(const epoll_server&) = delete;
  epoll_server& operator=(const epoll_server&) = delete;

  [[noreturn]] void run() {
    for (;;) {
      std::array<epoll_event, 256> events;
      const int came = ::epoll_wait(epoll_, events.data(), events.size(), -1);
      require(came >= 0 || errno == EINTR, "epoll_wait");
      for (int i = 0; i < came; ++i) {
        auto* const whose = static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (whose == nullptr)
          accept();
        else if (!return_what_came(*whose))
          close(*whose);
      }
    }
  }

private:
  void watch(int fd, connection* whose) const {
    epoll_event what{};
    what.events = EPOLLIN;
    what.data.ptr = whose;
    require(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &what) == 0, "epoll_ctl");
  }
  void accept() const {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    floors::set_nodelay(fd);
    watch(fd, std::make_unique<connection>(fd, buffer_).release());  // close() takes it back
  }
  static void close(connection& one) {
    ::close(one.fd);
    const std::unique_ptr<connection> gone(&one);
  }

  /// False when the other side has closed.
  static bool return_what_came(connection& one) {
    const ssize_t got = ::recv(one.fd, one.room.data(), one.room.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN;
    one.filled = static_cast<std::size_t>(got);
    one.sent = 0;
    while (one.sent < one.filled && send_some(one)) {
    }
    return got > 0 && one.sent == one.filled;
  }
  static bool send_some(connection& one) {
    const ssize_t sent = ::send(one.fd, one.room.data() + one.sent, one.filled - one.sent,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) one.sent += static_cast<std::size_t>(sent);
    if (sent > 0 || errno != EAGAIN) return sent > 0;
    pollfd room{one.fd, POLLOUT, 0};  // seldom: the other side reads what it has sent
    return ::poll(&room, 1, -1) > 0;
  }

  std::size_t buffer_;
  int listener_;
  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
};

}  // namespace

void serve_echo_by_epoll(std::size_t buffer) {
  epoll_server(buffer).run();
}

void serve_close() {
  for (const int listener = floors::listen();;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) ::close(fd);
  }
}
