// tests/io/pipe_test.cpp: the ends of pipes, and counters.
#include "skua/io/pipe.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::room;

class pipes : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, pipes, skua_test::every_kind(), skua_test::name_of_kind);
class event_fds : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, event_fds, skua_test::every_kind(), skua_test::name_of_kind);

io::pipe_ends a_pipe() {
  return skua::or_throw(io::pipe());
}
io::event_fd a_counter(std::uint32_t initial = 0) {
  return skua::or_throw(io::event_fd::make(initial));
}

TEST_P(pipes, carry_bytes_until_the_writer_is_gone) {
  auto rt = start();
  auto body = []() -> task<> {
    const std::size_t before = skua_test::open_fds();
    {
      auto ends = a_pipe();
      EXPECT_NE(::fcntl(ends.reader.get(), F_GETFD) & FD_CLOEXEC, 0);
      EXPECT_NE(::fcntl(ends.writer.get(), F_GETFD) & FD_CLOEXEC, 0);
      auto write = [](io::pipe_writer to) -> task<> {
        const std::string much(1'000'000, 'x');
        skua::or_throw(co_await to.write_all(bytes_of(much)));
      };
      auto writer = spawn(write(std::move(ends.writer)));
      std::vector<std::byte> some(10'000);
      std::size_t all = 0;
      for (;;) {
        const std::size_t got = skua::or_throw(co_await ends.reader.read(some));
        if (got == 0) break;
        all += got;
      }
      EXPECT_EQ(all, 1'000'000U);
      co_await std::move(writer);
    }
    EXPECT_EQ(skua_test::open_fds(), before);
  };
  rt.block_on(body());
}

TEST_P(pipes, say_that_nobody_reads) {
  auto rt = start();
  auto body = []() -> task<> {
    auto ends = a_pipe();
    ends.reader.release().reset();
    EXPECT_EQ(error_of(co_await ends.writer.write(bytes_of("x"))), std::errc::broken_pipe);
    EXPECT_EQ(error_of(co_await ends.writer.write_all(bytes_of("x"))), std::errc::broken_pipe);
    EXPECT_TRUE((co_await ends.writer.write_all({})).has_value());
  };
  rt.block_on(body());
}

TEST_P(pipes, lose_nothing_to_a_stop) {
  auto rt = start();
  auto body = []() -> task<> {
    auto ends = a_pipe();
    room<8> into;
    auto read = [](const io::pipe_reader& from, std::span<std::byte> to) -> task<> {
      static_cast<void>(co_await from.read(to));
    };
    auto reader = spawn(read(ends.reader, into.span()));
    co_await skua::sleep(1ms);
    reader.abort();
    EXPECT_TRUE((co_await reader.outcome()).stopped());
    skua::or_throw(co_await ends.writer.write_all(bytes_of("kept")));
    EXPECT_EQ(into.text(co_await ends.reader.read(into.span())), "kept");

    const std::string much(1'000'000, 'x');
    auto write = [](const io::pipe_writer& to, std::string_view text) -> task<> {
      skua::or_throw(co_await to.write_all(bytes_of(text)));
    };
    auto writer = spawn(write(ends.writer, much));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(writer.done()) << "the pipe is full";
    writer.abort();
    EXPECT_TRUE((co_await writer.outcome()).stopped());
  };
  rt.block_on(body());
}

TEST_P(event_fds, add_up_what_was_added) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto counter = a_counter(2);
    counter.add(3).value();
    EXPECT_EQ(skua::or_throw(co_await counter.wait()), 5U);
    EXPECT_EQ(counter.try_wait(), std::nullopt);
    constexpr auto most = std::numeric_limits<std::uint64_t>::max() - 1;
    counter.add(most).value();
    EXPECT_EQ(error_of(counter.add()), std::errc::resource_unavailable_try_again);
    EXPECT_EQ(error_of(counter.add(most + 1)), std::errc::invalid_argument);
    EXPECT_EQ(counter.try_wait(), most);
  };
  rt.block_on(body());
}

TEST_P(event_fds, are_added_to_by_threads) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto counter = a_counter();
    std::thread adder([&counter] {
      for (int i = 0; i < 1'000; ++i) counter.add().value();
    });
    std::uint64_t all = 0;
    while (all < 1'000) all += skua::or_throw(co_await counter.wait());
    adder.join();
    EXPECT_EQ(all, 1'000U);
  };
  rt.block_on(body());
}

TEST_P(event_fds, give_it_to_one_of_those_who_wait) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto counter = a_counter();
    auto wait = [](const io::event_fd& at) -> task<std::uint64_t> {
      co_return skua::or_throw(co_await at.wait());
    };
    auto first = spawn(wait(counter));
    auto second = spawn(wait(counter));
    co_await skua::sleep(1ms);
    counter.add().value();
    while (!first.done() && !second.done()) co_await skua::sleep(1ms);
    EXPECT_NE(first.done(), second.done());
    counter.add().value();
    EXPECT_EQ(co_await std::move(first) + co_await std::move(second), 2U);
  };
  rt.block_on(body());
}

TEST_P(event_fds, keep_what_a_lost_race_left) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto one = a_counter();
    const auto other = a_counter();
    std::uint64_t sum = 0;
    for (int i = 0; i < 50; ++i) {
      auto add_both = [](const io::event_fd& a, const io::event_fd& b) -> task<> {
        a.add().value();
        b.add().value();
        co_return;
      };
      auto adder = spawn(add_both(one, other));
      auto first = co_await skua::select(one.wait(), other.wait());
      if (auto* a = first.get<0>()) sum += **a;
      if (auto* b = first.get<1>()) sum += **b;
      co_await std::move(adder);
    }
    sum += one.try_wait().value_or(0) + other.try_wait().value_or(0);
    EXPECT_EQ(sum, 100U);
    const auto none = co_await skua::timeout(1ms, one.wait());
    EXPECT_EQ(error_of(none), std::errc::timed_out);
  };
  rt.block_on(body());
}

}  // namespace
