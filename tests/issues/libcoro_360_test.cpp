// tests/issues/libcoro_360_test.cpp: a pool that was to end waited until its last sleeper woke up.
//
// libcoro 360: a task slept for long; ending the scheduler did not end the sleep but sat through
// it.
//
// Here shutdown stops a task in whatever it waits for, a timer too (core::close_and_stop()), wakes
// workers that sleep (core::end_workers()), and threads of the blocking pool that wait for a call
// (blocking_pool::close()). Each sleep in this file would last an hour or for ever.
#include "driver/driver.hpp"
#include "driver/timer_wheel.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/worker.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

namespace {

using skua::flavour;
using skua::runtime;
using skua::task;
using skua_test::shared_gate;
using skua_test::watchdog;

constexpr std::int64_t an_hour = 3'600'000'000'000;

/// A sleep on the driver of the worker that it begins on.
class sleep_for_an_hour final : public skua::leaf, private skua::timer {
public:
  explicit sleep_for_an_hour(std::atomic<int>& asleep) noexcept : timer(wake), asleep_(asleep) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override {
    skua::worker& here = *skua::current().as;
    in_ = &here.sleeps_in();
    deadline = here.runtime.now() + an_hour;
    in_->add(*this);
    ++asleep_;
  }
  skua::cancel_answer cancel() noexcept override {
    return in_->remove(*this) ? skua::cancel_answer::detached : skua::cancel_answer::pending;
  }
  static void wake(timer& self) noexcept { static_cast<sleep_for_an_hour&>(self).complete(); }

  std::atomic<int>& asleep_;
  skua::driver* in_ = nullptr;
};

struct kind {
  flavour which;
  std::size_t workers;
};

class libcoro_360 : public testing::TestWithParam<kind> {
protected:
  static runtime start() {
    skua::config with;
    with.flavour = GetParam().which;
    with.workers = GetParam().workers;
    with.blocking_keep_alive = an_hour;
    return std::move(runtime::start(with).value());
  }
  /// Until `count` tasks are where they wait.
  void run_until(runtime& rt, const std::atomic<int>& there, int count) {
    if (GetParam().which == flavour::current_thread)
      rt.block_on([](const std::atomic<int>& is, int want) -> task<void> {
        while (is < want) co_await skua::yield();
      }(there, count));
    while (there < count) std::this_thread::yield();
  }
  watchdog hang{"shutdown against a sleeper"};
};

task<void> sleeps(std::atomic<int>& asleep) {
  co_await sleep_for_an_hour(asleep);
}

TEST_P(libcoro_360, a_task_that_sleeps_for_an_hour_does_not_keep_shutdown_waiting) {
  runtime rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  std::atomic<int> asleep = 0;
  for (int i = 0; i < 8; ++i) rt.spawn(sleeps(asleep)).detach();
  run_until(rt, asleep, 8);
  EXPECT_TRUE(rt.shutdown().complete());
}

task<void> waits(shared_gate& gate, std::atomic<int>& there) {
  ++there;
  co_await shared_gate::wait(gate);
}

TEST_P(libcoro_360, a_task_that_waits_for_ever_does_not_keep_shutdown_waiting) {
  runtime rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  shared_gate never;
  std::atomic<int> there = 0;
  for (int i = 0; i < 8; ++i) rt.spawn(waits(never, there)).detach();
  run_until(rt, there, 8);
  EXPECT_TRUE(rt.shutdown().complete());
}

TEST_P(libcoro_360, threads_without_work_do_not_keep_shutdown_waiting) {
  runtime rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on([]() -> task<void> { co_await skua::spawn_blocking([] {}); });
  while (rt.metrics().blocking_idle == 0) std::this_thread::yield();
  EXPECT_TRUE(rt.shutdown().complete());
}

INSTANTIATE_TEST_SUITE_P(runtimes, libcoro_360,
                         testing::Values(kind{flavour::current_thread, 1},
                                         kind{flavour::multi_thread, 1},
                                         kind{flavour::multi_thread, 2},
                                         kind{flavour::multi_thread, 4}));

}  // namespace
