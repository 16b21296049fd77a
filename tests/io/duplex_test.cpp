// tests/io/duplex_test.cpp: bytes through memory, halves of a stream, and ends that come and go.
#include "skua/io/duplex.hpp"

#include "skua/base/random.hpp"
#include "skua/io/split.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/driven.hpp"
#include "support/errors.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/memory_limit.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
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

namespace io = skua::io;
using skua::random_generator;
using skua::result;
using skua::task;
using skua_test::bytes_of;
using skua_test::driven;
using skua_test::error_of;
using skua_test::gate;
using skua_test::manual_executor;
using skua_test::room;
using skua_test::started;

static_assert(skua::async_stream<io::duplex_stream>);
static_assert(skua::async_half_closable<io::duplex_stream>);
static_assert(skua::async_reader<io::read_half<io::duplex_stream>>);
static_assert(!skua::async_writer<io::read_half<io::duplex_stream>>);
static_assert(skua::async_half_closable<io::write_half<io::duplex_stream>>);

class duplexes : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, duplexes, skua_test::every_kind(), skua_test::name_of_kind);

task<std::string> read_text(io::duplex_stream& from, std::size_t most) {
  std::vector<std::byte> into(most);
  const auto got = co_await from.read(into);
  co_return skua_test::text_of(std::span(into).first(got.value_or(0)));
}
task<std::size_t> write_text(io::duplex_stream& to, std::string_view text) {
  const auto took = co_await to.write(bytes_of(text));
  co_return took.value_or(999);
}
std::string now_from(io::duplex_stream& from, std::size_t most = 100) {
  return skua::sync_wait(read_text(from, most));
}
std::size_t now_to(io::duplex_stream& to, std::string_view text) {
  return skua::sync_wait(write_text(to, text));
}
void drop(io::duplex_stream& which) {
  const auto gone = std::move(which);
}

TEST(duplex, carries_bytes_both_ways_as_many_as_there_is_room_for) {
  auto [one, other] = io::duplex(4);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(now_to(one, "abcdef"), 4U);
    EXPECT_EQ(now_to(other, "xyz"), 3U);
    EXPECT_EQ(now_from(other, 3), "abc");
    EXPECT_EQ(now_to(one, "gh"), 2U);
    EXPECT_EQ(now_from(other), "dgh") << "around the end of the ring";
    EXPECT_EQ(now_from(one), "xyz");
  }
}

TEST(duplex, of_no_length_moves_nothing_and_waits_for_nothing) {
  auto [one, other] = io::duplex(1);
  EXPECT_EQ(now_to(one, ""), 0U);
  EXPECT_EQ(now_from(one, 0), "");
  EXPECT_EQ(now_to(one, "a"), 1U);
  EXPECT_EQ(now_to(one, ""), 0U) << "full";
}

TEST(duplex, ends_after_what_is_inside_when_the_other_end_has_gone) {
  auto [one, other] = io::duplex(8);
  EXPECT_EQ(now_to(one, "last"), 4U);
  drop(one);
  EXPECT_EQ(now_from(other, 3), "las");
  EXPECT_EQ(now_from(other), "t");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(now_from(other), "");
  auto writes = [](io::duplex_stream& to) -> task<result<std::size_t>> {
    co_return co_await to.write(bytes_of("x"));
  };
  EXPECT_EQ(error_of(skua::sync_wait(writes(other))), std::errc::broken_pipe);
}

TEST(duplex, half_closed_can_still_be_read) {
  auto [one, other] = io::duplex(8);
  EXPECT_EQ(now_to(one, "question"), 8U);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(skua::sync_wait(one.shutdown_write()).has_value());
  EXPECT_EQ(now_from(other), "question");
  EXPECT_EQ(now_from(other), "");
  EXPECT_EQ(now_to(other, "answer"), 6U);
  EXPECT_EQ(now_from(one), "answer");
  EXPECT_EQ(now_to(one, "more"), 999U);
}

TEST(duplex, who_waits_is_woken_by_the_other_end) {
  manual_executor here;
  auto [one, other] = io::duplex(2);
  driven<std::string> reads(here, read_text(one, 10));
  here.run_ready();
  EXPECT_FALSE(reads.ended());
  EXPECT_EQ(now_to(other, "ab"), 2U);
  here.run_ready();
  EXPECT_EQ(*reads.result(), "ab");
  EXPECT_EQ(now_to(other, "cd"), 2U);
  driven<std::size_t> writes(here, write_text(other, "ef"));
  here.run_ready();
  EXPECT_FALSE(writes.ended());
  EXPECT_EQ(now_from(one, 1), "c");
  here.run_ready();
  EXPECT_EQ(*writes.result(), 1U) << "as many as there is room for";
  EXPECT_EQ(now_from(one), "de");
}

TEST(duplex, who_waits_is_told_that_the_other_end_has_gone) {
  manual_executor here;
  {
    auto [one, other] = io::duplex(1);
    driven<std::string> reads(here, read_text(one, 10));
    EXPECT_EQ(now_to(one, "x"), 1U);
    driven<std::size_t> writes(here, write_text(one, "y"));
    here.run_ready();
    EXPECT_FALSE(reads.ended() || writes.ended());
    drop(other);
    here.run_ready();
    EXPECT_EQ(*reads.result(), "");
    EXPECT_EQ(*writes.result(), 999U);
  }
  auto [one, other] = io::duplex(1);
  driven<std::string> reads(here, read_text(one, 10));
  here.run_ready();
  EXPECT_TRUE(skua::sync_wait(other.shutdown_write()).has_value());
  here.run_ready();
  EXPECT_EQ(*reads.result(), "");
}

task<std::string> read_or(io::duplex_stream& from, gate& other) {
  auto how = co_await skua::select(read_text(from, 10), gate::wait(other));
  std::string got = "lost";
  if (how.index() == 0) got = *how.get<0>();
  co_return got;
}
task<bool> write_or(io::duplex_stream& to, gate& other) {
  auto how = co_await skua::select(write_text(to, "c"), gate::wait(other));
  co_return how.index() == 0;
}

TEST(duplex_cancel, who_is_stopped_or_loses_a_race_takes_nothing_along) {
  manual_executor here;
  gate other;
  auto [one, two] = io::duplex(1);
  for (const bool began : {false, true}) {
    driven<std::string> reads(here, read_text(one, 10));
    if (began) here.run_ready();
    reads.request_stop();
    here.run_ready();
    EXPECT_TRUE(reads.result().stopped());
  }
  driven<std::string> loses(here, read_or(one, other));
  here.run_ready();
  other.open();
  EXPECT_EQ(now_to(two, "a"), 1U);
  here.run_ready();
  EXPECT_EQ(*loses.result(), "lost");
  for (const bool began : {false, true}) {
    driven<std::size_t> writes(here, write_text(two, "b"));
    if (began) here.run_ready();
    writes.request_stop();
    here.run_ready();
    EXPECT_TRUE(writes.result().stopped());
  }
  driven<bool> writes(here, write_or(two, other));
  here.run_ready();
  other.open();
  EXPECT_EQ(now_from(one), "a");
  here.run_ready();
  EXPECT_FALSE(*writes.result());
  EXPECT_EQ(now_to(two, "d"), 1U);
  EXPECT_EQ(now_from(one), "d");
}

TEST(duplex_death, misuse_says_so) {
  EXPECT_DEATH((void)io::duplex(0), "has room for a byte");
  auto [one, other] = io::duplex(1);
  auto twice = [](io::duplex_stream& from) -> task<> {
    (void)co_await skua::race(read_text(from, 1), read_text(from, 1));
  };
  auto feeds = [](io::duplex_stream& from, io::duplex_stream& to, auto reads) -> task<> {
    co_await skua::when_all(reads(from), write_text(to, "x"));
  };
  EXPECT_DEATH(skua::sync_wait(feeds(one, other, twice)), "one read under way at a time");
  drop(one);
  EXPECT_DEATH((void)now_from(one), "used while it has one");  // NOLINT(bugprone-use-after-move)
}

/// Byte i of a stream.
std::byte byte_at(std::uint64_t i) {
  return static_cast<std::byte>(i * 131 + (i >> 8));
}

/// Writes so many bytes of the stream, in pieces, giving way `pause` times between them.
task<> write_stream(io::write_half<io::duplex_stream> to, std::uint64_t count, std::size_t piece,
                    int pause) {
  std::vector<std::byte> bytes(piece);
  for (std::uint64_t at = 0; at < count;) {
    const std::size_t length = std::min<std::uint64_t>(piece, count - at);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = byte_at(at + i);
    const auto took = co_await to.write(std::span(bytes).first(length));
    if (!took.has_value()) co_return;
    at += *took;
    for (int i = 0; i < pause; ++i) co_await skua::yield();
  }
  co_await to.shutdown_write();
}

task<std::uint64_t> read_stream(io::read_half<io::duplex_stream> from, std::size_t piece,
                                int pause) {
  std::vector<std::byte> bytes(piece);
  std::uint64_t at = 0;
  for (;;) {
    const auto got = co_await from.read(bytes);
    if (*got == 0) co_return at;
    for (std::size_t i = 0; i < *got; ++i, ++at) EXPECT_EQ(bytes[i], byte_at(at));
    for (int i = 0; i < pause; ++i) co_await skua::yield();
  }
}

// Both directions at once, by four tasks.
TEST_P(duplexes, keep_order_between_fast_and_slow_readers_and_writers) {
  auto rt = start();
  auto body = [](std::size_t capacity, int slow_writer, int slow_reader) -> task<> {
    constexpr std::uint64_t much = 20'000;
    auto [one, other] = io::duplex(capacity);
    auto [one_in, one_out] = io::split(std::move(one));
    auto [other_in, other_out] = io::split(std::move(other));
    auto forth = skua::spawn(write_stream(std::move(one_out), much, 100, slow_writer));
    auto back = skua::spawn(write_stream(std::move(other_out), much, 77, slow_reader));
    auto there = skua::spawn(read_stream(std::move(other_in), 64, slow_reader));
    EXPECT_EQ(co_await read_stream(std::move(one_in), 130, slow_writer), much);
    EXPECT_EQ(co_await std::move(there), much);
    co_await std::move(forth);
    co_await std::move(back);
  };
  for (const std::size_t capacity : {1U, 7U, 64U, 4096U}) {
    rt.block_on(body(capacity, 0, 0));
    rt.block_on(body(capacity, 3, 0));
    rt.block_on(body(capacity, 0, 3));
  }
}

TEST_P(duplexes, hold_back_a_writer_whose_reader_is_slow) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [one, other] = io::duplex(10);
    std::atomic<std::size_t> written = 0;
    auto writes = [](io::duplex_stream to, std::atomic<std::size_t>& count) -> task<> {
      for (int i = 0; i < 50; ++i) {
        const auto took = co_await to.write(bytes_of("x"));
        count += *took;
      }
    };
    auto writer = skua::spawn(writes(std::move(one), written));
    while (written < 10) co_await skua::yield();
    std::size_t got = 0;
    while (got < 50) {
      for (int i = 0; i < 20; ++i) co_await skua::yield();
      EXPECT_LE(written, got + 10);
      got += (co_await read_text(other, 1)).size();
    }
    co_await std::move(writer);
  };
  rt.block_on(body());
}

TEST(duplex, waits_without_allocating) {
  skua::runtime rt = started(skua_test::alone.settings());
  bool allocated = true;
  auto echoes = [](io::duplex_stream at) -> task<> {
    std::array<std::byte, 4> bytes{};
    for (;;) {
      const auto got = co_await at.read(bytes);
      if (*got == 0) co_return;
      co_await at.write(std::span(bytes).first(*got));
    }
  };
  auto body = [](auto echo, bool& any) -> task<> {
    auto [one, other] = io::duplex(2);
    auto far = skua::spawn(echo(std::move(other)));
    {
      std::array<std::byte, 4> bytes{};
      const skua_test::memory_limit none(1, skua_test::memory_limit::whose::any_thread);
      for (int i = 0; i < 100; ++i) {
        co_await one.write(std::span(bytes).first(2));
        co_await one.read(bytes);
      }
      any = none.reached();
    }
    drop(one);
    co_await std::move(far);
  };
  rt.block_on(body(echoes, allocated));
  EXPECT_FALSE(allocated);
}

TEST(split, halves_that_come_together_again_are_the_stream) {
  auto [one, other] = io::duplex(8);
  {
    auto [in, out] = io::split(std::move(one));
    EXPECT_TRUE(skua::sync_wait(io::write_all(out, bytes_of("first"))).has_value());
    one = io::reunite(std::move(in), std::move(out));
  }
  EXPECT_EQ(now_from(other), "first");
  EXPECT_EQ(now_to(other, "back"), 4U);
  EXPECT_EQ(now_from(one), "back");
  auto [in, out] = io::split(std::move(one));
  {
    const auto gone = std::move(in);
  }
  EXPECT_EQ(now_to(other, "x"), 1U) << "the other half has it still";
  {
    const auto gone = std::move(out);
  }
  EXPECT_EQ(now_to(other, "x"), 999U);
}

TEST(split_death, halves_of_two_streams_do_not_fit) {
  auto [one, other] = io::duplex(8);
  auto [one_in, one_out] = io::split(std::move(one));
  auto [other_in, other_out] = io::split(std::move(other));
  EXPECT_DEATH((void)io::reunite(std::move(one_in), std::move(other_out)), "halves of one stream");
}

task<std::size_t> few_turns(std::uint64_t count) {
  for (; count > 0; --count) co_await skua::yield();
  co_return std::size_t{1'000'000};
}

/// Writes the stream until it is stopped, the reader has gone or it has written enough; gives up
/// many a write, of which no byte must have been sent.
task<> write_at_random(io::write_half<io::duplex_stream> to, random_generator random) {
  std::array<std::byte, 200> bytes{};
  const std::uint64_t count = random.below(20'000);
  for (std::uint64_t at = 0; at < count;) {
    const std::size_t length = 1 + random.below(bytes.size());
    for (std::size_t i = 0; i < length; ++i) bytes[i] = byte_at(at + i);
    auto write = to.write(std::span(bytes).first(length));
    auto how = co_await skua::select(write, few_turns(random.below(4)));
    if (how.index() == 1) continue;
    if (!how.get<0>()->has_value()) co_return;
    at += **how.get<0>();
  }
}

task<> read_at_random(io::read_half<io::duplex_stream> from, std::atomic<std::uint64_t>& all,
                      random_generator random) {
  std::array<std::byte, 200> bytes{};
  const std::uint64_t enough = random.below(30'000);
  for (std::uint64_t at = 0; at < enough;) {
    auto read = from.read(std::span(bytes).first(1 + random.below(bytes.size())));
    auto how = co_await skua::select(read, few_turns(random.below(4)));
    if (how.index() == 1) continue;
    const std::size_t got = **how.get<0>();
    if (got == 0) co_return;
    for (std::size_t i = 0; i < got; ++i, ++at) EXPECT_EQ(bytes[i], byte_at(at));
    all += got;
  }
}

task<> one_round(random_generator random, std::atomic<std::uint64_t>& all) {
  constexpr std::array<std::size_t, 4> sizes = {1, 5, 64, 1'000};
  std::vector<skua::join_handle<void>> running;
  for (int i = 0; i < 3; ++i) {
    auto [one, other] = io::duplex(sizes[random.below(sizes.size())]);
    auto [one_in, one_out] = io::split(std::move(one));
    auto [other_in, other_out] = io::split(std::move(other));
    running.push_back(skua::spawn(write_at_random(std::move(one_out), random.split())));
    running.push_back(skua::spawn(read_at_random(std::move(one_in), all, random.split())));
    running.push_back(skua::spawn(write_at_random(std::move(other_out), random.split())));
    running.push_back(skua::spawn(read_at_random(std::move(other_in), all, random.split())));
  }
  for (int i = 0; i < 3; ++i) {
    co_await few_turns(random.below(30));
    running[random.below(running.size())].abort();
  }
  co_await few_turns(200);
  for (auto& one : running) one.abort();  // who waits for a half that was stopped waits for ever
  for (auto& one : running) (void)co_await one.outcome();
}

void many_rounds(std::size_t workers) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  random_generator random(seed);
  skua_test::watchdog hang("seed " + std::to_string(seed));
  skua::config with;
  with.workers = workers;
  with.budget = 8;
  skua::runtime rt = started(with);
  const skua_test::watchdog::registration watched(hang, rt.get_handle());
  std::atomic<std::uint64_t> all = 0;
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure();) {
    rt.block_on(one_round(random.split(), all));
    hang.progress();
  }
  std::printf("%zu workers: %llu bytes\n", workers, static_cast<unsigned long long>(all.load()));
  EXPECT_GT(all, 0U) << "seed " << seed;
}

TEST(duplex_stress, ends_come_and_go_on_two_workers) {
  many_rounds(2);
}
TEST(duplex_stress, ends_come_and_go_on_eight_workers) {
  many_rounds(8);
}

}  // namespace
