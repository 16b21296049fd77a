// tests/io/descriptor_test.cpp: who owns a descriptor, and what is under way on it.
#include "skua/io/descriptor.hpp"

#include "skua/io/socket.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using io::descriptor;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::open_fds;
using skua_test::room;

class descriptors : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, descriptors, skua_test::every_kind(), skua_test::name_of_kind);

struct two_ends {
  descriptor first;
  descriptor second;
};

two_ends connected() {
  skua_test::listener at;
  unique_fd first = at.connected();
  return {.first = descriptor(std::move(first)), .second = descriptor(at.accepted())};
}

TEST(descriptor, is_moved_with_its_number) {
  const std::size_t before = open_fds();
  {
    descriptor one(unique_fd(::dup(0)));
    const int number = one.get();
    descriptor two(std::move(one));
    EXPECT_FALSE(one);
    EXPECT_EQ(one.get(), -1);
    EXPECT_EQ(two.get(), number);
    descriptor three(unique_fd(::dup(0)));
    three = std::move(two);
    EXPECT_EQ(three.get(), number);
    EXPECT_EQ(open_fds(), before + 1);
  }
  EXPECT_EQ(open_fds(), before);
}

TEST(descriptor, is_given_out_for_good) {
  descriptor one(unique_fd(::dup(0)));
  const int number = one.get();
  const unique_fd raw = one.release();
  EXPECT_EQ(raw.get(), number);
  EXPECT_FALSE(one);
  EXPECT_NE(::fcntl(number, F_GETFD), -1);
}

TEST_P(descriptors, carry_bytes) {
  auto rt = start();
  auto body = []() -> task<> {
    two_ends pair = connected();
    EXPECT_EQ(co_await pair.first.write(bytes_of("there")), 5U);
    room<8> into;
    const auto got = co_await pair.second.read(into.span());
    EXPECT_EQ(into.text(got), "there");
    EXPECT_EQ(co_await io::send(pair.second, bytes_of("back")), 4U);
    const auto back = co_await io::recv(pair.first, into.span());
    EXPECT_EQ(into.text(back), "back");
  };
  rt.block_on(body());
}

TEST_P(descriptors, are_closed_by_an_operation) {
  auto rt = start();
  auto body = []() -> task<> {
    two_ends pair = connected();
    const int number = pair.first.get();
    EXPECT_TRUE((co_await pair.first.close()).has_value());
    EXPECT_FALSE(pair.first);
    EXPECT_EQ(::fcntl(number, F_GETFD), -1);
    room<1> into;
    EXPECT_EQ(co_await pair.second.read(into.span()), 0U);
    EXPECT_EQ(error_of(co_await pair.first.close()), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await pair.first.read(into.span())), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

// What was known about a number must not be believed of the next file that has it.
TEST_P(descriptors, get_numbers_that_others_had) {
  auto rt = start();
  auto body = []() -> task<> {
    int number = -1;
    for (int i = 0; i < 50; ++i) {
      two_ends pair = connected();
      if (number == -1) number = pair.first.get();
      EXPECT_EQ(pair.first.get(), number) << "the lowest that is free";
      room<8> into;
      auto answer = [](const descriptor& to) -> task<> {
        co_await skua::yield();
        co_await to.write(bytes_of("abc"));
      };
      auto reading = [](const descriptor& from, room<8>& to) -> task<std::string> {
        const auto got = co_await io::recv(from, to.span());
        co_return to.text(got);
      };
      // Less than there is room for: on epoll, nobody tries again before the next event.
      auto [text, none] = co_await skua::when_all(reading(pair.first, into), answer(pair.second));
      EXPECT_EQ(text, "abc");
    }
  };
  rt.block_on(body());
}

TEST_P(descriptors, are_idle_again_after_a_stop_or_a_timeout) {
  auto rt = start();
  auto body = []() -> task<> {
    two_ends pair = connected();
    room<1> into;
    EXPECT_EQ(error_of(co_await skua::timeout(1ms, pair.first.read(into.span()))),
              std::errc::timed_out);
    auto reading = [](const descriptor& from) -> task<> {
      room<1> here;
      co_await from.read(here.span());
    };
    auto handle = skua::spawn(reading(pair.first));
    co_await skua::yield();
    handle.abort();
    EXPECT_TRUE((co_await handle.outcome()).stopped());
    const descriptor moved(std::move(pair.first));
    EXPECT_TRUE(moved);
  };
  rt.block_on(body());
}

task<> read_and_lose(bool moves) {
  two_ends pair = connected();
  auto reading = [](const descriptor& from) -> task<> {
    room<1> here;
    co_await from.read(here.span());
  };
  auto handle = skua::spawn(reading(pair.first));
  for (int i = 0; i < 3; ++i) co_await skua::yield();
  if (moves)
    const descriptor elsewhere(std::move(pair.first));
  else
    pair.first = descriptor();
}

TEST(descriptor_death, is_not_moved_or_closed_under_an_operation) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const bool moves : {true, false}) {
    EXPECT_DEATH(skua_test::started(skua_test::alone.settings()).block_on(read_and_lose(moves)),
                 "stays where it is, and open, while an operation on it is under way");
  }
}

}  // namespace
