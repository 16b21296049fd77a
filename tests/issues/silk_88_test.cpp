// tests/issues/silk_88_test.cpp: a loop slept in the kernel while its own timeout had completed.
//
// Silk 88: the loop's timeout was a completion like any other. It came between the last look at the
// queue and the call that sleeps; the loop slept on, with the completion in front of it, until
// something else happened, which was never.
//
// Here the time is no completion but an argument of the call that sleeps, reckoned at the last
// moment (timer_queue::left_until()): one that is past means that nobody sleeps. What has completed
// ends that call at once, since the kernel looks at the queue first. One worker, so that nobody
// else would notice.
#include "driver/uring/uring_driver.hpp"
#include "skua/base/clock.hpp"
#include "skua/skua.hpp"
#include "support/driven_epoll.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
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
using skua_test::watchdog;

void spin(std::chrono::microseconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Between a worker's last look and its sleep: lets time pass, or bytes come.
class at_the_last_moment final : public skua::hooks {
public:
  void worker_parks(std::size_t) override {
    spin(std::chrono::microseconds(wait_us.load()));
    const int fd = write_to.exchange(-1);
    if (fd >= 0) {
      EXPECT_EQ(::write(fd, "x", 1), 1);
    }
  }
  std::atomic<int> wait_us{0};
  std::atomic<int> write_to{-1};
};

class silk_88 : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::runtime start_watched() {
    skua::config settings = settings_of(GetParam(), log);
    settings.hooks = &moment;
    return skua_test::started(settings);
  }
  at_the_last_moment moment;
  watchdog hang{"what happens as the worker falls asleep"};
};
INSTANTIATE_TEST_SUITE_P(one, silk_88, skua_test::kinds_with_one_worker(), skua_test::name_of_kind);

task<> naps(int count, std::chrono::microseconds length) {
  for (int i = 0; i < count; ++i) co_await skua::sleep(length);
}

TEST_P(silk_88, a_sleep_that_ends_as_the_worker_falls_asleep_ends) {
  auto rt = start_watched();
  const watchdog::registration watched(hang, rt.get_handle());
  for (const int late : {0, 90, 100, 110, 3'000}) {
    moment.wait_us = late;
    rt.block_on(naps(10, 100us));
    hang.progress();
  }
}

task<> reads_in_vain(int count, int fd, std::chrono::microseconds limit) {
  room<1> into;
  for (int i = 0; i < count; ++i) {
    const auto got = co_await skua::timeout(limit, io::read(fd, into.span()));
    EXPECT_EQ(got.error(), std::errc::timed_out);
  }
}

TEST_P(silk_88, an_operation_that_times_out_as_the_worker_falls_asleep_ends) {
  auto rt = start_watched();
  const watchdog::registration watched(hang, rt.get_handle());
  const pipe_pair pipe;
  for (const int late : {0, 90, 100, 110, 3'000}) {
    moment.wait_us = late;
    rt.block_on(reads_in_vain(10, pipe.out(), 100us));
    hang.progress();
  }
}

task<> reads_what_comes(int count, const pipe_pair& from, at_the_last_moment& moment) {
  room<1> into;
  for (int i = 0; i < count; ++i) {
    moment.write_to = from.in();
    EXPECT_EQ(into.text(co_await io::read(from.out(), into.span())), "x");
  }
}

TEST_P(silk_88, an_operation_that_completes_as_the_worker_falls_asleep_ends) {
  auto rt = start_watched();
  const watchdog::registration watched(hang, rt.get_handle());
  const pipe_pair pipe;
  for (int i = 0; i < 10; ++i) {
    rt.block_on(reads_what_comes(20, pipe, moment));
    hang.progress();
  }
}

/// The byte, the limit and the sleep end at about the same moment, which moves.
task<> reads_at_the_limit(int fd, std::chrono::microseconds limit, std::atomic<int>& received) {
  room<1> into;
  const auto got = co_await skua::timeout(limit, io::read(fd, into.span()));
  if (!got) {
    EXPECT_EQ(got.error(), std::errc::timed_out);
  }
  if (got) ++received;
}

task<> writes_at(int fd, std::chrono::microseconds when) {
  co_await skua::sleep(when);
  EXPECT_EQ((co_await io::write(fd, skua_test::bytes_of("x"))).value_or(0), 1U);
}

task<> all_at_the_same_moment(int tasks, std::chrono::microseconds when) {
  const pipe_pair pipe;
  std::atomic<int> received{0};
  std::vector<skua::join_handle<void>> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(spawn(reads_at_the_limit(pipe.out(), when, received)));
    all.push_back(spawn(writes_at(pipe.in(), when + (i % 5 - 2) * 10us)));
    all.push_back(spawn(naps(1, when)));
  }
  for (auto& one : all) co_await std::move(one);
  room<64> rest;
  const auto left = co_await skua::timeout(0us, io::read(pipe.out(), rest.span()));
  EXPECT_EQ(received + static_cast<int>(left.value_or(0)), tasks);
}

TEST_P(silk_88, sleeps_limits_and_completions_of_one_moment_all_end) {
  auto rt = start_watched();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 60; ++i) {
    rt.block_on(all_at_the_same_moment(1 + i % 20, 200us + i * 7us));
    hang.progress();
  }
}

/// A thread outside wakes the worker when its sleep is about over.
TEST_P(silk_88, a_wake_that_comes_with_the_end_of_a_sleep_hides_nothing) {
  auto rt = start_watched();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 200; ++i) {
    const auto handle = rt.get_handle();
    std::atomic<bool> ran{false};
    std::thread other([&handle, &ran, i] {
      spin(100us + i % 20 * 5us);
      handle.spawn(skua::call([](std::atomic<bool>& done) { done = true; }, std::ref(ran)))
          .detach();
    });
    rt.block_on(naps(2, 100us));
    other.join();
    rt.block_on([](const std::atomic<bool>& done) -> task<> {
      while (!done) co_await skua::sleep(10us);
    }(ran));
    hang.progress();
  }
}

// --- a ring by hand

/// Real time; a thread that was named is held up when it asks, which drivers do under their lock.
class halting_clock final : public skua::clock {
public:
  [[nodiscard]] std::int64_t now() const noexcept override {
    if (halts.load() == std::this_thread::get_id()) {
      halts.store(std::thread::id());
      halted.store(true);
      while (!go_on.load()) std::this_thread::yield();
    }
    return real_.now();
  }
  mutable std::atomic<std::thread::id> halts;
  mutable std::atomic<bool> halted{false};
  std::atomic<bool> go_on{false};

private:
  skua::monotonic_clock real_;
};

/// Its owner parks when told to; another thread drives in its place.
class silk_88_ring : public testing::Test {
protected:
  void SetUp() override {
    auto made = skua::uring_driver::make({}, clock, pool);
    if (!made) GTEST_SKIP() << "there is no io_uring";
    driver = std::move(*made);
    driver->add(far_away);  // so that whoever drives asks for the time
    owner = std::thread([this] { owns(); });
    ASSERT_TRUE(parks_until_woken()) << "which also makes it watch for wakes";
  }
  void TearDown() override {
    if (driver == nullptr) return;
    over = true;
    owner.join();
    driver->remove(far_away);
  }

  void owns() {
    for (int done = 0; !over; std::this_thread::yield())
      if (asked.load() > done) {
        driver->park(skua::driver::no_limit);
        parked.store(++done);
      }
  }
  bool has_returned() const {
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (parked.load() < asked.load() && std::chrono::steady_clock::now() < patience)
      std::this_thread::yield();
    return parked.load() == asked.load();
  }
  bool parks_until_woken() {
    ++asked;
    std::this_thread::sleep_for(1ms);
    driver->wake();
    return has_returned();
  }
  /// The owner has announced its sleep, and waits for the lock; the wake comes; and a thread that
  /// drives in its place sees it before the owner has the lock.
  bool parks_while_another_sees_its_wake() {
    clock.halted = clock.go_on = false;
    std::thread stands_in([this] {
      clock.halts = std::this_thread::get_id();
      driver->poll();
      driver->poll();
    });
    while (!clock.halted) std::this_thread::yield();
    ++asked;
    std::this_thread::sleep_for(200us);
    driver->wake();
    std::this_thread::sleep_for(200us);
    clock.go_on = true;
    const bool returned = has_returned();
    if (!returned) driver->set_alarm(1);
    stands_in.join();
    EXPECT_TRUE(has_returned());
    return returned;
  }

  halting_clock clock;
  skua_test::one_thread pool;
  skua::timer far_away{[](skua::timer&) noexcept {}};
  std::unique_ptr<skua::uring_driver> driver;
  std::thread owner;
  std::atomic<int> asked{0};
  std::atomic<int> parked{0};
  std::atomic<bool> over{false};
};

TEST_F(silk_88_ring, an_owner_does_not_sleep_on_when_another_thread_has_seen_its_wake) {
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(parks_while_another_sees_its_wake()) << "in round " << i;
}

}  // namespace
