// tests/support/pipes.hpp: descriptors to read from and write to, and bytes for them.
#pragma once

#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace skua_test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A pipe whose ends block, as pipes do at first.
class pipe_pair {
public:
  explicit pipe_pair(int flags = O_CLOEXEC) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), flags), 0);
    out_.reset(ends[0]);
    in_.reset(ends[1]);
  }
  [[nodiscard]] int out() const { return out_.get(); }
  [[nodiscard]] int in() const { return in_.get(); }
  void close_out() { out_.reset(); }
  void close_in() { in_.reset(); }
  skua::unique_fd take_in() { return std::move(in_); }

private:
  skua::unique_fd out_;
  skua::unique_fd in_;
};

/// Something to read.
inline void feed(const pipe_pair& pipe) {
  ASSERT_EQ(::write(pipe.in(), "x", 1), 1);
}

/// Two connected sockets.
class socket_pair {
public:
  explicit socket_pair(int type = SOCK_STREAM | SOCK_CLOEXEC) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends.data()), 0);
    first_.reset(ends[0]);
    second_.reset(ends[1]);
  }
  [[nodiscard]] int first() const { return first_.get(); }
  [[nodiscard]] int second() const { return second_.get(); }
  void close_first() { first_.reset(); }
  void close_second() { second_.reset(); }

private:
  skua::unique_fd first_;
  skua::unique_fd second_;
};

/// Where bytes are read to.
template <std::size_t size>
class room {
public:
  [[nodiscard]] std::span<std::byte> span() { return bytes_; }
  /// What an operation that says `got` has left there.
  [[nodiscard]] std::string text(const skua::result<std::size_t>& got) const {
    EXPECT_TRUE(got.has_value()) << got.error().message();
    return got.has_value() ? text_of(std::span(bytes_).first(*got)) : std::string();
  }

private:
  std::array<std::byte, size> bytes_{};
};

}  // namespace skua_test
