// tests/issues/libcoro_287_test.cpp: a resume that met a pool about to stop was thrown away.
//
// libcoro 287: whoever resumed a task on a thread pool looked first whether the pool was stopping.
// If it was, the task was dropped without a word, although it was alive and the pool waited for it,
// or its owner did; and if the pool began to stop right after the look, its threads were gone when
// the task was queued.
//
// Here a runtime takes every resume for as long as it has tasks (core::schedule_from_outside(),
// which does not ask), and its workers end when the last task has (core::shut_down()).
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/shared_gate.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace {

using skua::flavour;
using skua::runtime;
using skua::task;
using skua_test::shared_gate;
using skua_test::watchdog;

struct kind {
  flavour which;
  std::size_t workers;
};

class libcoro_287 : public testing::TestWithParam<kind> {
protected:
  static runtime start() {
    return std::move(
        runtime::builder().flavour(GetParam().which).workers(GetParam().workers).build().value());
  }
  watchdog hang{"a resume against shutdown"};
};

/// The source does not let go of the task, as a kernel would not: only the gate ends the wait.
task<std::uint64_t> waits(shared_gate& gate, std::optional<std::stop_token>& asked,
                          std::atomic<bool>& ready) {
  asked = co_await skua::current_stop_token();
  ready = true;
  co_return co_await shared_gate::wait(gate, false);
}

task<void> until(const std::atomic<bool>& ready) {
  while (!ready) co_await skua::yield();
}

TEST_P(libcoro_287, a_resume_after_shutdown_has_begun_is_run) {
  runtime rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  shared_gate gate;
  std::optional<std::stop_token> asked;
  std::atomic<bool> ready = false;
  auto handle = rt.spawn(waits(gate, asked, ready));
  rt.block_on(until(ready));  // a current_thread runtime runs in here
  gate.await_waiter();
  std::thread opens([&] {
    while (!asked->stop_requested()) std::this_thread::yield();
    gate.open_one(7);
  });
  EXPECT_TRUE(rt.shutdown().complete());
  opens.join();
  ASSERT_TRUE(handle.done());
  auto elsewhere = runtime::builder().flavour(flavour::current_thread).build();
  EXPECT_EQ(elsewhere->block_on(std::move(handle)), 7U) << "a value beats a stop";
}

task<void> waits_often(shared_gate& gate, int times) {
  for (int i = 0; i < times; ++i) co_await shared_gate::wait(gate, i % 2 == 0);
}

TEST_P(libcoro_287, resumes_that_race_shutdown_are_run) {
  std::uint64_t rounds = 0;
  for (const skua_test::budget time(1); time.left(); ++rounds) {
    shared_gate gate;
    std::thread opens([&] {
      while (gate.await_waiter()) gate.open_one();
    });
    std::optional<runtime> rt(start());
    const watchdog::registration watched(hang, rt->get_handle());
    auto first = rt->spawn(waits_often(gate, 20));
    auto second = rt->spawn(waits_often(gate, 20));
    for (std::uint64_t i = rounds % 50; i > 0; --i) std::this_thread::yield();
    rt.reset();
    EXPECT_TRUE(first.done() && second.done());
    gate.open();
    opens.join();
    hang.progress();
  }
  std::printf("%llu rounds\n", static_cast<unsigned long long>(rounds));
}

INSTANTIATE_TEST_SUITE_P(runtimes, libcoro_287,
                         testing::Values(kind{flavour::current_thread, 1},
                                         kind{flavour::multi_thread, 1},
                                         kind{flavour::multi_thread, 2},
                                         kind{flavour::multi_thread, 4}));

}  // namespace
