// tests/io/stream_test.cpp: bytes through pipes, sockets and files, and what is no byte at all.
#include "skua/io/stream.hpp"

#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::bytes_of;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::text_of;

class streams : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, streams, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(streams, do_nothing_through_the_kernel) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 1'000; ++i) {
      const auto done = co_await io::nop();
      EXPECT_TRUE(done.has_value());
    }
  };
  rt.block_on(body());
}

TEST_P(streams, read_what_is_there) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    const auto written = co_await io::write(pipe.in(), bytes_of("hello"));
    EXPECT_EQ(written.value_or(0), 5U);
    room<16> into;
    const auto got = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(into.text(got), "hello");
  };
  rt.block_on(body());
}

task<> read_into(int fd, std::string& text) {
  room<16> into;
  const auto got = co_await io::read(fd, into.span());
  text = into.text(got);
}

TEST_P(streams, read_what_comes_later) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    std::string text;
    auto reader = spawn(read_into(pipe.out(), text));
    co_await skua::sleep(5ms);
    co_await io::write(pipe.in(), bytes_of("later"));
    co_await std::move(reader);
    EXPECT_EQ(text, "later");
  };
  rt.block_on(body());
}

TEST_P(streams, end_with_their_writer) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    pipe.close_in();
    room<4> into;
    const auto got = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(got.value_or(9), 0U);
  };
  rt.block_on(body());
}

TEST_P(streams, fail_without_a_signal_when_nobody_reads) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    pipe.close_out();
    const auto written = co_await io::write(pipe.in(), bytes_of("x"));
    EXPECT_EQ(written.error(), std::errc::broken_pipe);
  };
  rt.block_on(body());
}

TEST_P(streams, write_when_there_is_room_again) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    const std::vector<std::byte> much(1 << 20, std::byte{7});
    auto writes = [](int fd, std::span<const std::byte> from) -> task<std::size_t> {
      std::size_t sent = 0;
      while (sent < from.size()) sent += skua::or_throw(co_await io::write(fd, from.subspan(sent)));
      co_return sent;
    };
    auto writer = spawn(writes(pipe.in(), much));
    std::vector<std::byte> into(10'000);
    std::size_t got = 0;
    while (got < much.size()) got += skua::or_throw(co_await io::read(pipe.out(), into));
    EXPECT_EQ(co_await std::move(writer), much.size());
  };
  rt.block_on(body());
}

TEST_P(streams, scatter_and_gather) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    std::string a = "ab";
    std::string b = "cdef";
    const std::array<iovec, 2> from = {iovec{a.data(), a.size()}, iovec{b.data(), b.size()}};
    const auto written = co_await io::writev(pipe.in(), from);
    EXPECT_EQ(written.value_or(0), 6U);
    std::string c(3, ' ');
    std::string d(3, ' ');
    const std::array<iovec, 2> into = {iovec{c.data(), c.size()}, iovec{d.data(), d.size()}};
    const auto got = co_await io::readv(pipe.out(), into);
    EXPECT_EQ(got.value_or(0), 6U);
    EXPECT_EQ(c + d, "abcdef");
  };
  rt.block_on(body());
}

TEST_P(streams, splice_from_pipe_to_pipe) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair from;
    pipe_pair to;
    std::string text;
    auto moves = [](int source, int target) -> task<std::size_t> {
      co_return skua::or_throw(
          co_await io::splice(source, io::at_position, target, io::at_position, 100));
    };
    auto moved = spawn(moves(from.out(), to.in()));
    co_await skua::yield();
    co_await io::write(from.in(), bytes_of("moved"));
    EXPECT_EQ(co_await std::move(moved), 5U);
    co_await read_into(to.out(), text);
    EXPECT_EQ(text, "moved");
  };
  rt.block_on(body());
}

TEST_P(streams, close_what_they_are_given) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    const int number = pipe.in();
    const auto closed = co_await io::close(pipe.take_in());
    EXPECT_TRUE(closed.has_value());
    EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  };
  rt.block_on(body());
}

TEST_P(streams, refuse_descriptors_that_are_none) {
  auto rt = start();
  auto body = []() -> task<> {
    room<4> into;
    EXPECT_EQ((co_await io::read(-1, into.span())).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await io::read(999'999, into.span())).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await io::write(-7, bytes_of("x"))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await io::close(skua::unique_fd(999'999))).error(),
              std::errc::bad_file_descriptor);
    pipe_pair pipe;
    const auto wrong_end = co_await io::read(pipe.in(), into.span());
    EXPECT_EQ(wrong_end.error(), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

TEST_P(streams, of_no_length_move_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    const auto written = co_await io::write(pipe.in(), {});
    EXPECT_EQ(written.value_or(9), 0U);
    const auto got = co_await io::read(pipe.out(), {});
    EXPECT_EQ(got.value_or(9), 0U);
  };
  rt.block_on(body());
}

TEST_P(streams, may_be_given_more_room_than_there_is_memory) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    co_await io::write(pipe.in(), bytes_of("few"));
    room<8> into;
    // Only what comes is written.
    const std::span<std::byte> huge(into.span().data(), std::size_t{1} << 40);
    const auto got = co_await io::read(pipe.out(), huge);
    EXPECT_EQ(into.text(got), "few");
  };
  rt.block_on(body());
}

TEST_P(streams, time_out_and_lose_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    room<8> into;
    for (const auto length : {5ms, 0ms, -3ms}) {
      const auto got = co_await skua::timeout(length, io::read(pipe.out(), into.span()));
      EXPECT_EQ(got.error(), std::errc::timed_out);
    }
    co_await io::write(pipe.in(), bytes_of("still"));
    const auto got = co_await skua::timeout(10s, io::read(pipe.out(), into.span()));
    EXPECT_EQ(into.text(got), "still");
  };
  rt.block_on(body());
}

}  // namespace
