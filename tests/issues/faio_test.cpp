// tests/issues/faio_test.cpp: timers that spun, fired too early, too late, never, or twice.
//
// faio, a small runtime on io_uring, had a family of such mistakes: a loop without timers asked the
// kernel to wait for no time at all, and so for ever in vain; a first timer was measured from a
// wheel that stood still, and fired at once; timers were only looked at by a loop that sleeps; one
// that was removed was counted still, or twice; and a send without a copy, which completes twice,
// resumed its task twice.
//
// Here a queue without timers sleeps without a limit (timer_queue::begin_sleep()); deadlines are
// absolute (sleep_wait::start()); a busy worker looks as well (worker::every_so_often()); what is
// removed is unlinked and counted in one place (timer_wheel::remove()); and only the last
// completion ends an operation (uring_driver::completed(): IORING_CQE_F_MORE).
#include "driver/timer_queue.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/driven_epoll.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using clock_type = std::chrono::steady_clock;
using skua::spawn;
using skua::task;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::watchdog;

/// Of 300 ms. An idle runtime uses some 30 microseconds.
constexpr auto most_while_idle = skua::built_with_asan || skua::built_with_tsan ? 60ms : 20ms;

class faio : public skua_test::for_each_kind {
protected:
  watchdog hang{"timers"};
};
INSTANTIATE_TEST_SUITE_P(every, faio, skua_test::every_kind(), skua_test::name_of_kind);

// --- idle

std::chrono::nanoseconds cpu_time() {
  timespec used{};
  EXPECT_EQ(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// Measured by a thread outside, while the runtime waits for its byte.
std::chrono::nanoseconds used_while_idle(int fd) {
  std::this_thread::sleep_for(100ms);  // all have gone to sleep
  const auto before = cpu_time();
  std::this_thread::sleep_for(300ms);
  const auto used = cpu_time() - before;
  EXPECT_EQ(::write(fd, "x", 1), 1);
  return used;
}

task<> reads_one(int fd) {
  room<1> into;
  EXPECT_EQ(into.text(co_await io::read(fd, into.span())), "x");
}

TEST_P(faio, an_idle_runtime_without_timers_does_not_spin) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  const pipe_pair pipe;
  std::chrono::nanoseconds used{0};
  std::thread other([&] { used = used_while_idle(pipe.in()); });
  rt.block_on(reads_one(pipe.out()));
  other.join();
  EXPECT_LT(used, most_while_idle);
}

TEST_P(faio, a_runtime_whose_timers_have_all_ended_does_not_spin) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  const pipe_pair pipe;
  auto sleeps = [](int fd) -> task<> {
    for (int i = 0; i < 20; ++i) co_await skua::sleep(500us);
    room<1> into;
    EXPECT_FALSE((co_await skua::timeout(1ms, io::read(fd, into.span()))).has_value());
    co_await reads_one(fd);
  };
  std::chrono::nanoseconds used{0};
  std::thread other([&] { used = used_while_idle(pipe.in()); });
  rt.block_on(sleeps(pipe.out()));
  other.join();
  EXPECT_LT(used, most_while_idle);
}

// --- early and late

task<> expect_to_take(std::chrono::milliseconds least, std::chrono::milliseconds most) {
  const auto before = clock_type::now();
  co_await skua::sleep(least);
  const auto took = clock_type::now() - before;
  EXPECT_GE(took, least);
  EXPECT_LT(took, most);
}

TEST_P(faio, a_first_sleep_does_not_end_at_once) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(expect_to_take(10ms, 5s));
}

TEST_P(faio, a_sleep_after_a_time_without_timers_does_not_end_at_once) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (const auto pause : {2ms, 30ms, 80ms}) {
    std::this_thread::sleep_for(pause);
    rt.block_on(expect_to_take(10ms, 5s));
  }
}

task<> busy(const std::atomic<bool>& over) {
  while (!over) co_await skua::yield();
}

/// Each worker has tasks that never wait.
task<> sleeps_among_busy_ones(int count) {
  std::atomic<bool> over{false};
  std::vector<skua::join_handle<void>> others;
  for (int i = 0; i < count; ++i) others.push_back(spawn(busy(over)));
  co_await expect_to_take(100ms, 5s);
  over = true;
  for (auto& one : others) co_await std::move(one);
}

TEST_P(faio, a_sleep_on_a_busy_worker_ends_in_time) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(sleeps_among_busy_ones(8));
}

// --- removed

struct plain_timer : skua::timer {
  plain_timer() : timer([](skua::timer&) noexcept {}) {}
};

constexpr std::int64_t millisecond = 1'000'000;
/// In one slot, in several, on several levels.
constexpr std::array<std::int64_t, 5> deadlines = {millisecond, millisecond + 1, 30 * millisecond,
                                                   90 * millisecond, 9'000 * millisecond};

/// Takes `order[0..removed)` out, and looks at what is left each time.
void remove_in_order(const std::array<std::size_t, 5>& order, std::size_t removed) {
  skua::manual_clock time;
  skua::timer_queue queue(time);
  std::array<plain_timer, 5> timers;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    timers[i].deadline = deadlines[i];
    EXPECT_FALSE(queue.insert(timers[i]));
  }
  for (std::size_t i = 0; i < removed; ++i) {
    EXPECT_TRUE(queue.remove(timers[order[i]]));
    EXPECT_FALSE(queue.remove(timers[order[i]])) << "it is removed once";
    std::int64_t earliest = skua::no_deadline;
    for (const plain_timer& one : timers)
      if (one.linked()) earliest = std::min(earliest, one.deadline);
    EXPECT_LE(queue.begin_sleep(), earliest) << "it would sleep too long";
    if (earliest == skua::no_deadline) {
      EXPECT_EQ(queue.begin_sleep(), skua::no_deadline);
    }
    queue.end_sleep();
  }
  std::size_t fired = 0;
  for (const std::int64_t now : deadlines) {
    time.advance(now - time.now());
    skua::timer_list due;
    queue.take_due(due);
    for (; const skua::timer* const one = due.pop_front(); ++fired) EXPECT_EQ(one->deadline, now);
  }
  EXPECT_EQ(fired, timers.size() - removed);
  EXPECT_FALSE(queue.may_have()) << "one is counted that is not there";
}

TEST(faio_queue, timers_removed_in_any_order_leave_the_others_as_they_were) {
  std::array<std::size_t, 5> order = {0, 1, 2, 3, 4};
  do {
    for (std::size_t removed = 0; removed <= order.size(); ++removed)
      remove_in_order(order, removed);
  } while (std::ranges::next_permutation(order).found);
}

task<> sleeps_for(std::chrono::microseconds length, int& ended) {
  co_await skua::sleep(length);
  ++ended;
}

/// Four sleep for long and are stopped in that order; a fifth one goes on, and ends.
task<> stops_in_order(const std::array<std::size_t, 4>& order) {
  int ended = 0;
  int last = 0;
  constexpr std::array<std::chrono::microseconds, 4> lengths = {10s, 10s + 1us, 1h, 20s};
  std::vector<skua::join_handle<void>> all;
  for (const auto length : lengths) all.push_back(spawn(sleeps_for(length, ended)));
  auto other = spawn(sleeps_for(2ms, last));
  co_await skua::sleep(200us);
  for (const std::size_t which : order) {
    all[which].abort();
    EXPECT_TRUE((co_await all[which].outcome()).stopped());
  }
  co_await std::move(other);
  co_await sleeps_for(100us, last);
  EXPECT_EQ(last, 2);
  EXPECT_EQ(ended, 0);
}

TEST_P(faio, sleeps_stopped_in_any_order_leave_the_others_as_they_were) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  do {
    rt.block_on(stops_in_order(order));
    hang.progress();
  } while (std::ranges::next_permutation(order).found);
  EXPECT_TRUE(rt.shutdown().complete());
}

// --- two completions

constexpr std::size_t chunk = 32'768;

task<> sends_without_a_copy(int fd, int times, std::atomic<int>& resumed) {
  std::vector<std::byte> bytes(chunk);
  for (int i = 0; i < times; ++i) {
    std::ranges::fill(bytes, std::byte{static_cast<unsigned char>(i)});
    std::size_t sent = 0;
    while (sent < chunk) {
      const int before = ++resumed;
      sent += skua::or_throw(co_await io::send_zero_copy(fd, std::span(bytes).subspan(sent)));
      EXPECT_EQ(resumed, before) << "resumed twice";
    }
  }
}

task<> receives(int fd, int times) {
  std::vector<std::byte> bytes(chunk);
  for (int i = 0; i < times; ++i) {
    for (std::size_t got = 0; got < chunk;)
      got += skua::or_throw(co_await io::recv(fd, std::span(bytes).subspan(got)));
    const auto expected = std::byte{static_cast<unsigned char>(i)};
    EXPECT_EQ(std::ranges::count(bytes, expected), std::ssize(bytes)) << "changed on the way";
  }
}

task<> passes_bytes(int times) {
  const skua_test::tcp_pair pair;
  std::atomic<int> resumed{0};
  auto receiver = spawn(receives(pair.second(), times));
  co_await sends_without_a_copy(pair.first(), times, resumed);
  co_await std::move(receiver);
  EXPECT_GE(resumed, times);
}

task<> several_pass_bytes(int count, int times) {
  std::vector<skua::join_handle<void>> all;
  for (int i = 0; i < count; ++i) all.push_back(spawn(passes_bytes(times)));
  for (auto& one : all) co_await std::move(one);
}

TEST_P(faio, a_send_that_completes_twice_resumes_its_task_once) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(several_pass_bytes(4, 50));
}

}  // namespace
