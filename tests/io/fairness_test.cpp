// tests/io/fairness_test.cpp: a task that always finds something to do leaves time for the others.
#include "skua/io/stream.hpp"
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::pipe_pair;
using skua_test::room;

/// With one worker: what it forgets nobody else does.
class io_fairness : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(one, io_fairness, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

// So many that a test fails instead of hanging.
constexpr int most = 300'000;

/// Bytes on their way through a pipe. Only turns that are taken while one waits in it count: until
/// then its writer has not had its time from the kernel, and that is nobody's fault here.
struct traffic {
  std::atomic<int> written = 0;
  std::atomic<int> got = 0;
  std::atomic<bool> over = false;
};

task<int> sleeps_until_over(const traffic& bytes) {
  int late = 0;
  while (!bytes.over && late < most) {
    co_await skua::sleep(0ns);
    if (bytes.written > bytes.got) ++late;
  }
  co_return late;
}

task<> reads_some(int fd, int count, traffic& bytes) {
  room<1> into;
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE((co_await io::read(fd, into.span())).has_value());
    ++bytes.got;
    bytes.got.notify_one();
  }
}

// The one who writes is a thread of its own: it needs no turn.
TEST_P(io_fairness, timers_that_are_always_due_leave_time_for_what_is_ready) {
  auto rt = start();
  auto body = []() -> task<> {
    constexpr int count = 50;
    const pipe_pair pipe;
    traffic bytes;
    auto sleeper = spawn(sleeps_until_over(bytes));
    auto reader = spawn(reads_some(pipe.out(), count, bytes));
    std::thread writer([&] {
      for (int i = 0; i < count; ++i) {
        EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
        ++bytes.written;
        bytes.got.wait(i);
      }
    });
    co_await std::move(reader);
    bytes.over = true;
    EXPECT_LT(co_await std::move(sleeper), most) << "nobody looked at the kernel";
    writer.join();
  };
  rt.block_on(body());
}

TEST_P(io_fairness, timers_that_are_always_due_leave_time_for_a_stop) {
  auto rt = start();
  auto body = []() -> task<> {
    const pipe_pair pipe;
    traffic bytes;
    auto reader = spawn(reads_some(pipe.out(), 1, bytes));
    co_await skua::sleep(1ms);
    bytes.written = 1;  // the stop is what is on its way here
    auto sleeper = spawn(sleeps_until_over(bytes));
    reader.abort();
    EXPECT_TRUE((co_await reader.outcome()).stopped());
    bytes.over = true;
    EXPECT_LT(co_await std::move(sleeper), most);
  };
  rt.block_on(body());
}

/// What a busy task did since a moment that another waits for.
struct busy_state {
  std::atomic<bool> over = false;
  std::int64_t deadline = 0;
  int since = 0;
};

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

task<> writes_and_reads(busy_state& state, std::size_t size) {
  const pipe_pair pipe;
  std::vector<std::byte> bytes(size);
  while (!state.over) {
    if (state.deadline != 0 && now() > state.deadline) ++state.since;
    const std::size_t sent = skua::or_throw(co_await io::write(pipe.in(), bytes));
    skua::or_throw(co_await io::read(pipe.out(), std::span(bytes).first(sent)));
  }
}

/// The largest number of rounds that the busy one did while the sleeper was late.
task<int> rounds_while_late(std::size_t size) {
  busy_state state;
  auto busy = spawn(writes_and_reads(state, size));
  int worst = 0;
  for (int i = 0; i < 20; ++i) {
    state.since = 0;
    state.deadline = now() + 1'000'000;
    // For that moment, and not for 1 ms from a later one: this thread may be off the processor
    // between the two, and the sleeper is not late before its own deadline.
    co_await skua::sleep_until(skua::instant::of_nanoseconds(state.deadline));
    worst = std::max(worst, state.since);
    state.deadline = 0;
  }
  state.over = true;
  co_await std::move(busy);
  co_return worst;
}

// The turn in which it became due, and one more: the busy one is queued before the look that finds
// it. A round has two operations.
constexpr int rounds_of_two_turns = 2 * 129 / 2;

TEST_P(io_fairness, operations_that_are_ready_at_once_leave_time_for_timers) {
  auto rt = start();
  const int worst = rt.block_on(rounds_while_late(100));
  EXPECT_LE(worst, rounds_of_two_turns + 2);
}

// Each counts for four.
TEST_P(io_fairness, operations_that_move_much_leave_more_time) {
  auto rt = start();
  const int worst = rt.block_on(rounds_while_late(65'536));
  EXPECT_LE(worst, rounds_of_two_turns / 4 + 2);
}

}  // namespace
