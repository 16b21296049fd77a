// tests/runtime/nested_runtime_test.cpp: a thread that drives another runtime comes back as it was.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace {

using skua::flavour;
using skua::runtime;
using skua::task;

runtime small() {
  return std::move(runtime::builder().flavour(flavour::current_thread).build().value());
}

task<int> three() {
  co_return 3;
}

void drive_another() {
  EXPECT_EQ(small().block_on(three()), 3);
}

/// What a thread can do only if it is part of a runtime.
void expect_at_home() {
  skua::spawn(three()).detach();
}

TEST(nested_runtime, a_blocking_section_may_drive_another_runtime) {
  auto rt = runtime::builder().workers(2).build();
  rt->block_on([]() -> task<void> {
    skua::block_in_place(drive_another);
    expect_at_home();
    co_await skua::yield();
    expect_at_home();
  });
}

TEST(nested_runtime, a_blocking_call_may_drive_another_runtime) {
  auto rt = runtime::builder().workers(2).build();
  rt->block_on([]() -> task<void> {
    for (int i = 0; i < 2; ++i)  // the same thread of the pool, most likely
      co_await skua::spawn_blocking([] {
        expect_at_home();
        drive_another();
        expect_at_home();
      });
  });
}

TEST(nested_runtime, a_task_may_end_another_runtime) {
  skua_test::watchdog hang("a runtime that ends in a task of another");
  auto rt = runtime::builder().workers(1).build();
  const skua_test::watchdog::registration watched(hang, rt->get_handle());
  rt->block_on([]() -> task<void> {
    {
      runtime other = small();
      other.spawn(three()).detach();
    }
    expect_at_home();
    co_await skua::yield();
    EXPECT_EQ(co_await skua::spawn(three()), 3);
  });
}

}  // namespace
