// tests/support/sockets.hpp: addresses and listeners of the loopback interface and of this machine.
#pragma once

#include "skua/driver/unique_fd.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace skua_test {

/// An address of any family, as the kernel takes and gives it.
class address {
public:
  address() = default;
  /// 127.0.0.1; port 0 lets the kernel choose.
  static address loopback(unsigned port = 0) {
    address made;
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    in.sin_port = htons(static_cast<std::uint16_t>(port));
    made.in_ = in;
    made.length = sizeof in;
    return made;
  }
  /// No name: the kernel chooses one that is in no file system.
  static address unnamed() {
    address made;
    made.any_.sa_family = AF_UNIX;
    made.length = sizeof(sa_family_t);
    return made;
  }
  static address of(int fd) {
    address made;
    made.length = sizeof made.un_;
    EXPECT_EQ(::getsockname(fd, made.get(), &made.length), 0);
    return made;
  }

  [[nodiscard]] sockaddr* get() { return &any_; }
  [[nodiscard]] int family() const { return any_.sa_family; }
  [[nodiscard]] unsigned port() const { return ntohs(in_.sin_port); }
  socklen_t length = sizeof(sockaddr_un);

private:
  union {
    sockaddr_un un_{};
    sockaddr any_;
    sockaddr_in in_;
  };
};

inline skua::unique_fd new_socket(int family, int type = SOCK_STREAM) {
  skua::unique_fd made(::socket(family, type | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(made);
  return made;
}

/// Listens in blocking mode, as sockets do at first.
class listener {
public:
  explicit listener(address where = address::loopback(), int backlog = 1'000)
      : fd_(new_socket(where.family())) {
    EXPECT_EQ(::bind(fd_.get(), where.get(), where.length), 0);
    EXPECT_EQ(::listen(fd_.get(), backlog), 0);
    at_ = address::of(fd_.get());
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] address& at() { return at_; }
  /// A connection that the kernel has made, and nobody has accepted.
  [[nodiscard]] skua::unique_fd connected() {
    skua::unique_fd made = new_socket(at_.family());
    EXPECT_EQ(::connect(made.get(), at_.get(), at_.length), 0);
    return made;
  }
  [[nodiscard]] skua::unique_fd accepted() {
    skua::unique_fd made(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(made);
    return made;
  }

private:
  skua::unique_fd fd_;
  address at_;
};

/// Blocks until it holds; the loopback interface is a queue, too, and a thread of the kernel's may
/// have to come to it. False if that takes longer than a machine can be busy.
template <typename Condition>
bool holds_soon(Condition holds) {
  for (int i = 0; i < 60'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(i < 100 ? 0 : 1));
  }
  return false;
}

/// In the way of all others at a listener of TCP: it is full, and who connects to it waits until it
/// has been accepted from. Of few: listen with a backlog of 0.
class full_queue {
public:
  explicit full_queue(int listener) : listener_(listener) {
    address at = address::of(listener);
    while (look().tcpi_unacked <= look().tcpi_sacked) {
      all_.push_back(new_socket(at.family()));
      EXPECT_EQ(::connect(all_.back().get(), at.get(), at.length), 0);
      // It is connected here when it is not yet known there.
      EXPECT_TRUE(holds_soon([this] { return look().tcpi_unacked == all_.size(); }));
      if (testing::Test::HasFailure()) return;
    }
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
  /// Of a listener: how many wait, as tcpi_unacked, and how many may, as tcpi_sacked.
  [[nodiscard]] tcp_info look() const {
    tcp_info about{};
    socklen_t length = sizeof about;
    EXPECT_EQ(::getsockopt(listener_, IPPROTO_TCP, TCP_INFO, &about, &length), 0);
    return about;
  }
  int listener_;
  std::vector<skua::unique_fd> all_;
};

/// Two sockets of TCP, connected through the loopback interface.
class tcp_pair {
public:
  tcp_pair() {
    listener at;
    first_ = at.connected();
    second_ = at.accepted();
  }
  [[nodiscard]] int first() const { return first_.get(); }
  [[nodiscard]] int second() const { return second_.get(); }
  [[nodiscard]] skua::unique_fd take_first() { return std::move(first_); }
  /// From the second to the first, where it is to be read when this returns; nobody reads
  /// meanwhile.
  void send(std::string_view text) const {
    const auto goal = unread() + std::ssize(text);
    EXPECT_EQ(::send(second(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
    EXPECT_TRUE(holds_soon([&] { return unread() == goal; }));
  }
  void close_first() { first_.reset(); }
  void close_second() { second_.reset(); }

private:
  [[nodiscard]] std::ptrdiff_t unread() const {
    int count = 0;
    EXPECT_EQ(::ioctl(first(), FIONREAD, &count), 0);
    return count;
  }
  skua::unique_fd first_;
  skua::unique_fd second_;
};

}  // namespace skua_test
