// tests/io/framing_test.cpp: a stream is cut where it should be, however it comes in.
#include "skua/io/framing.hpp"

#include "skua/base/error.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/io/framed.hpp"
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::framed;
using skua::framing;
using skua::result;
using skua::sync_wait;
using skua::task;

using strings = std::vector<std::string>;

/// Gives a text a few bytes at a time, and then its end, or an error.
class piecemeal {
public:
  piecemeal(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}

  task<result<std::size_t>> read(std::span<std::byte> into) {
    EXPECT_FALSE(into.empty());
    if (at_ == text_.size() && fails) co_return skua::fail(std::errc::connection_reset);
    const std::size_t count = std::min({piece_, into.size(), text_.size() - at_});
    std::ranges::copy(std::as_bytes(std::span(text_)).subspan(at_, count), into.begin());
    at_ += count;
    co_return count;
  }

  bool fails = false;

private:
  std::string text_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

/// All frames; the last is the error's message if it ended with one.
task<strings> all_of(std::string text, framing rule, std::size_t piece) {
  piecemeal from(std::move(text), piece);
  framed input(from, std::move(rule));
  strings frames;
  for (;;) {
    auto next = co_await input.next();
    if (!next.has_value()) {
      frames.push_back(next.error().message());
      break;
    }
    if (!next->has_value()) break;
    frames.emplace_back((*next)->text());
  }
  co_return frames;
}

/// The same in pieces of every size.
void expect_frames(const std::string& text, const framing& rule, const strings& expected) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 100U, 100'000U})
    EXPECT_EQ(sync_wait(all_of(text, rule, piece)), expected) << "in pieces of " << piece;
}

TEST(framing, lines_end_with_either_end) {
  expect_frames("one\ntwo\r\n\r\n\nlast", framing::lines(), {"one", "two", "", "", "last"});
  expect_frames("one\n", framing::lines(), {"one"});
  expect_frames("", framing::lines(), {});
  expect_frames("\r", framing::lines(), {"\r"});
}

TEST(framing, a_delimiter_may_have_several_bytes) {
  expect_frames("a--b---c-", framing::ends_with("--"), {"a", "b", "-c-"});
  expect_frames("aXYbXXYc", framing::ends_with("XY"), {"a", "bX", "c"});
}

TEST(framing, a_length_comes_first) {
  const std::string text("\0\0\0\3abc\0\0\0\0\0\0\0\1d", 16);
  expect_frames(text, framing::length_first(4), {"abc", "", "d"});
  expect_frames(std::string("\2ab\0\1c", 6), framing::length_first(1), {"ab", "", "c"});
  expect_frames(std::string("\0\2ab", 4), framing::length_first(2), {"ab"});
  expect_frames(std::string("\0\0\0\0\0\0\0\2ab", 10), framing::length_first(8), {"ab"});
}

TEST(framing, a_stream_that_ends_in_a_frame_ended_too_early) {
  const std::string early = skua::make_error_code(skua::errc::end_of_stream).message();
  expect_frames(std::string("\1a\3bc", 5), framing::length_first(1), {"a", early});
  expect_frames(std::string("\1a\0", 3), framing::length_first(2), {early});
  // With its own eight bytes it is longer than anything can be.
  expect_frames("\xff\xff\xff\xff\xff\xff\xff\xfe and more", framing::length_first(8, SIZE_MAX),
                {early});
}

TEST(framing, a_frame_that_is_too_long_is_an_error_that_stays) {
  const std::string too_long = skua::make_error_code(skua::errc::limit_exceeded).message();
  expect_frames("abc\nabcd\n", framing::lines(3), {"abc", too_long});
  expect_frames("abc\r\nabcd", framing::lines(3), {"abc", too_long});
  expect_frames(std::string(100'000, 'x'), framing::lines(3), {too_long});
  expect_frames("abc--abcd--", framing::ends_with("--", 3), {"abc", too_long});
  expect_frames(std::string("\3abc\4abcd", 9), framing::length_first(1, 3), {"abc", too_long});
  expect_frames("\xff\xff\xff\xff\xff\xff\xff\xff", framing::length_first(8), {too_long});
}

TEST(framing, frames_may_be_larger_than_the_buffer_was) {
  const std::string large(300'000, 'x');
  expect_frames(large + "\n" + large + "\n", framing::lines(), {large, large});
}

TEST(framing, an_error_of_the_reader_is_passed_on) {
  piecemeal from("one\ntw", 4);
  from.fails = true;
  framed input(from, framing::lines());
  auto first = sync_wait(input.next());
  EXPECT_EQ(first.value().value().text(), "one");
  auto second = sync_wait(input.next());
  EXPECT_EQ(second.error(), std::errc::connection_reset);
}

TEST(framing, cuts_at_random_like_a_simple_loop) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::minstd_rand random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    strings expected(1);
    for (auto left = random() % 2'000; left > 0; --left) {
      const char one = "ab\n"[random() % 3];
      text += one;
      if (one == '\n')
        expected.emplace_back();
      else
        expected.back() += one;
    }
    if (expected.back().empty()) expected.pop_back();
    ASSERT_EQ(sync_wait(all_of(text, framing::lines(), 1 + (random() % 50))), expected);
  }
}

/// A descriptor as a reader.
struct pipe_reader {
  int fd;
  skua::io_operation<std::size_t> read(std::span<std::byte> into) const {
    return skua::io::read(fd, into);
  }
};

task<result<std::optional<skua::frame>>> give_up() {
  co_await skua::sleep(2ms);
  co_return skua::fail(std::errc::timed_out);
}

class io_framed : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, io_framed, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(io_framed, a_stop_in_the_middle_of_a_frame_loses_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    skua_test::pipe_pair pipe;
    pipe_reader from{pipe.out()};
    framed input(from, framing::lines());
    EXPECT_EQ(::write(pipe.in(), "one\ntw", 6), 6);
    auto first = co_await input.next();
    EXPECT_EQ(first.value().value().text(), "one");
    auto second = co_await skua::race(input.next(), give_up());
    EXPECT_FALSE(second.has_value());
    EXPECT_EQ(::write(pipe.in(), "o\n", 2), 2);
    auto again = co_await input.next();
    EXPECT_EQ(again.value().value().text(), "two");
    pipe.close_in();
    auto end = co_await input.next();
    EXPECT_FALSE(end.value().has_value());
  };
  rt.block_on(body());
}

TEST(framing_death, impossible_rules_say_so) {
  EXPECT_DEATH(static_cast<void>(framing::ends_with("")), "at least one byte");
  EXPECT_DEATH(static_cast<void>(framing::length_first(3)), "1, 2, 4 or 8 bytes");
}

}  // namespace
