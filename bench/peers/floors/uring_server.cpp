// bench/peers/floors/uring_server.cpp: an echo server as one writes it on a bare liburing.
#include "floors/questions.hpp"
#include "floors/sockets.hpp"

#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

using floors::connection;
using floors::require;

/// One operation of each connection at a time; one call for all that is ready.
class uring_server {
public:
  explicit uring_server(std::size_t buffer) : buffer_(buffer), listener_(floors::listen()) {
    io_uring_params how{};
    how.flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL |
                IORING_SETUP_CQSIZE;
    how.cq_entries = 2'048;
    require(io_uring_queue_init_params(256, &ring_, &how) == 0, "io_uring_queue_init_params");
  }
  ~uring_server() { io_uring_queue_exit(&ring_); }
  uring_server(const uring_server&) = delete;
  uring_server& operator=(const uring_server&) = delete;

  [[noreturn]] void run() {
    accept();
    for (;;) {
      const int answer = io_uring_submit_and_wait(&ring_, 1);
      require(answer >= 0 || answer == -EINTR, "io_uring_submit_and_wait");
      unsigned head = 0;
      unsigned taken = 0;
      io_uring_cqe* one = nullptr;
      io_uring_for_each_cqe(&ring_, head, one) {
        ended(one->user_data, one->res);
        ++taken;
      }
      io_uring_cq_advance(&ring_, taken);
    }
  }

private:
  static constexpr std::uint64_t accepting = 0;
  static constexpr std::uint64_t sending = 1;

  io_uring_sqe& next_entry(std::uint64_t name) {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    if (entry == nullptr) {
      require(io_uring_submit(&ring_) > 0, "io_uring_submit");
      entry = io_uring_get_sqe(&ring_);
    }
    entry->user_data = name;
    return *entry;
  }
  static std::uint64_t name_of(connection& one) { return reinterpret_cast<std::uintptr_t>(&one); }

  void accept() {
    io_uring_sqe& entry = next_entry(accepting);
    io_uring_prep_accept(&entry, listener_, nullptr, nullptr, SOCK_CLOEXEC);
    entry.user_data = accepting;
  }
  void receive(connection& one) {
    io_uring_sqe& entry = next_entry(0);
    io_uring_prep_recv(&entry, one.fd, one.room.data(), one.room.size(), 0);
    entry.user_data = name_of(one);
  }
  void send(connection& one) {
    io_uring_sqe& entry = next_entry(0);
    io_uring_prep_send(&entry, one.fd, one.room.data() + one.sent, one.filled - one.sent,
                       MSG_NOSIGNAL);
    entry.user_data = name_of(one) | sending;
  }

  void accepted(int fd) {
    accept();
    if (fd < 0) return;
    floors::set_nodelay(fd);
    receive(*std::make_unique<connection>(fd, buffer_).release());  // close() takes it back
  }
  void ended(std::uint64_t name, int result) {
    if (name == accepting) return accepted(result);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives back the number it was given.
    auto& whose = *reinterpret_cast<connection*>(name & ~sending);
    if (result <= 0) return close(whose);
    const auto bytes = static_cast<std::size_t>(result);
    if ((name & sending) == 0) {
      whose.filled = bytes;
      whose.sent = 0;
      return send(whose);
    }
    whose.sent += bytes;
    if (whose.sent < whose.filled) return send(whose);
    receive(whose);
  }
  static void close(connection& one) {
    ::close(one.fd);
    const std::unique_ptr<connection> gone(&one);
  }

  std::size_t buffer_;
  int listener_;
  io_uring ring_{};
};

}  // namespace

void serve_echo_by_uring(std::size_t buffer) {
  uring_server(buffer).run();
}
