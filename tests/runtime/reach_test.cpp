// tests/runtime/reach_test.cpp: what is queued anywhere is within reach of a worker that sleeps.
#include "skua/skua.hpp"
#include "support/event.hpp"
#include "support/shared_gate.hpp"
#include "support/sleepers.hpp"
#include "support/started.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace {

using skua::spawn;
using skua::task;
using skua_test::event;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::sleepers;
using skua_test::started;
using skua_test::watchdog;

/// Runs `body` on one of two workers while the other one sleeps.
template <typename Body>
void beside_a_sleeper(skua::config with, Body body) {
  watchdog hang("a worker that sleeps beside work");
  sleepers watch;
  with.workers = 2;
  with.hooks = &watch;
  auto rt = started(with);
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 100; ++i) {
    rt.block_on([&]() -> task<> {
      while (watch.asleep == 0) std::this_thread::yield();
      co_await body();
    });
    hang.progress();
  }
}

TEST(reach, of_a_task_that_gives_way_to_one_that_blocks) {
  beside_a_sleeper({}, []() -> task<> {
    event went_on;
    auto blocks = spawn([&went_on] { went_on.wait(); });  // runs next, and here
    co_await skua::yield();                               // so this one can only go on elsewhere
    went_on.set();
    co_await std::move(blocks);
  });
}

TEST(reach, of_the_slot_of_a_worker_whose_thread_blocks) {
  skua::config with;
  with.blocking_threads = 1;
  beside_a_sleeper(with, []() -> task<> {
    event pool_is_busy;
    event pool_may_go_on;
    auto busy = spawn(skua::spawn_blocking(
        [](event& is, event& may_go_on) {
          is.set();
          may_go_on.wait();
        },
        std::ref(pool_is_busy), std::ref(pool_may_go_on)));
    co_await skua::yield();
    pool_is_busy.wait();
    event ran;
    spawn([&ran] { ran.set(); }).detach();  // into the slot
    skua::block_in_place([&ran] { ran.wait(); });
    pool_may_go_on.set();
    co_await std::move(busy);
  });
}

/// Spawns a task when a worker is about to sleep, once.
class last_minute final : public skua::hooks {
public:
  void worker_parks(std::size_t) override {
    if (!armed.exchange(false)) return;
    spawn([this] { ran.set(); }).detach();
  }
  std::atomic<bool> armed = false;
  event ran;
};

class reach_of : public testing::TestWithParam<kind> {};

TEST_P(reach_of, a_task_that_a_hook_spawns_before_the_worker_sleeps) {
  watchdog hang("a task that was spawned by worker_parks()");
  last_minute hooks;
  skua::config with = GetParam().settings();
  with.hooks = &hooks;
  auto rt = started(with);
  const watchdog::registration watched(hang, rt.get_handle());
  shared_gate door;
  std::thread opener([&] {
    door.await_waiters(1);
    hooks.armed = true;
    door.let_one_through();  // after which the workers sleep again
    hooks.ran.wait();
    door.open();
  });
  rt.block_on([&]() -> task<> {
    co_await shared_gate::wait(door);
    co_await shared_gate::wait(door);
  });
  opener.join();
}

INSTANTIATE_TEST_SUITE_P(runtimes, reach_of, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
