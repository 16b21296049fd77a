// bench/io/bare_servers.hpp: echo servers as one writes them without a runtime.
#pragma once

#include "support/echo_load.hpp"
#include "support/require.hpp"

#include <liburing.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

namespace bare {

/// A ring like those of our driver: size and flags are the same.
class uring {
public:
  uring() {
    io_uring_params params{};
    params.flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL |
                   IORING_SETUP_CQSIZE;
    params.cq_entries = 2'048;
    require(io_uring_queue_init_params(256, &ring_, &params) == 0, "io_uring_queue_init_params");
  }
  ~uring() { io_uring_queue_exit(&ring_); }
  uring(const uring&) = delete;
  uring& operator=(const uring&) = delete;

  [[nodiscard]] io_uring_sqe* next_entry() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    if (entry != nullptr) return entry;
    require(io_uring_submit(&ring_) > 0, "io_uring_submit");
    return io_uring_get_sqe(&ring_);
  }
  [[nodiscard]] io_uring* get() { return &ring_; }

private:
  io_uring ring_{};
};

/// One operation of each connection at a time; one call for all that is ready.
class uring_echo {
public:
  explicit uring_echo(std::span<connection> all) : all_(all), left_(all.size()) {}

  void run() {
    for (connection& one : all_) receive(one);
    while (left_ > 0) {
      const int answer = io_uring_submit_and_wait(ring_.get(), 1);
      require(answer >= 0 || answer == -EINTR, "io_uring_submit_and_wait");
      unsigned head = 0;
      unsigned taken = 0;
      io_uring_cqe* one = nullptr;
      io_uring_for_each_cqe(ring_.get(), head, one) {
        ended(one->user_data, one->res);
        ++taken;
      }
      io_uring_cq_advance(ring_.get(), taken);
    }
  }

private:
  static constexpr std::uint64_t sending = 1;

  void ended(std::uint64_t name, int result) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives back the number it was given.
    auto& whose = *reinterpret_cast<connection*>(name & ~sending);
    require(result >= 0, "recv or send in a ring");
    if ((name & sending) != 0) return receive(whose);
    if (result == 0) {
      ::close(whose.fd);
      --left_;
      return;
    }
    io_uring_sqe* const entry = ring_.next_entry();
    io_uring_prep_send(entry, whose.fd, whose.room.data(), static_cast<std::size_t>(result),
                       MSG_NOSIGNAL);
    entry->user_data = reinterpret_cast<std::uintptr_t>(&whose) | sending;
  }
  void receive(connection& one) {
    io_uring_sqe* const entry = ring_.next_entry();
    io_uring_prep_recv(entry, one.fd, one.room.data(), one.room.size(), 0);
    entry->user_data = reinterpret_cast<std::uintptr_t>(&one);
  }

  uring ring_;
  std::span<connection> all_;
  std::size_t left_;
};

/// False when the other side has closed. Less than there is room for: the socket is empty.
inline bool return_what_came(connection& one, bool until_empty) {
  for (;;) {
    const ssize_t got = ::recv(one.fd, one.room.data(), one.room.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return true;
    require(got >= 0, "recv");
    if (got == 0) {
      ::close(one.fd);
      return false;
    }
    const auto size = static_cast<std::size_t>(got);
    require(::send(one.fd, one.room.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) == got, "send");
    if (!until_empty || size < one.room.size()) return true;
  }
}

/// `Edge`: told of changes only, and reads until the socket is empty.
template <bool Edge>
void epoll_echo(std::span<connection> all) {
  const skua::unique_fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  require(bool(epoll), "epoll_create1");
  for (connection& one : all) {
    epoll_event what{};
    what.events = EPOLLIN | EPOLLRDHUP | (Edge ? EPOLLET : EPOLLIN);
    what.data.ptr = &one;
    require(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, one.fd, &what) == 0, "epoll_ctl");
  }
  for (std::size_t left = all.size(); left > 0;) {
    std::array<epoll_event, 256> events;
    const int came = ::epoll_wait(epoll.get(), events.data(), events.size(), -1);
    require(came >= 0 || errno == EINTR, "epoll_wait");
    for (int i = 0; i < came; ++i) {
      auto& whose = *static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!return_what_came(whose, Edge)) --left;
    }
  }
}

}  // namespace bare
