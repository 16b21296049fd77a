// tests/runtime/no_await_test.cpp: a task that waits where it must not ends the program.
#include "skua/runtime/no_await.hpp"

#include "skua/coro/when_all.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/parallel_all.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using skua::no_await;
using skua::task;

class no_await_in : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(runtimes, no_await_in, skua_test::every_kind(), skua_test::name_of_kind);

task<int> at_once(int value) {
  co_return value;
}

task<int> awaits_what_does_not_wait() {
  int sum = 0;
  {
    const no_await here;
    const no_await and_here;
    sum += co_await at_once(1);
    sum += co_await at_once(2);
  }
  co_await skua::yield();
  co_return sum;
}

TEST_P(no_await_in, awaits_that_do_not_wait_are_fine) {
  EXPECT_EQ(start().block_on(awaits_what_does_not_wait()), 3);
}

TEST_P(no_await_in, an_exception_ends_it) {
  auto body = []() -> task<> {
    try {
      const no_await here;
      throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    co_await skua::yield();
  };
  start().block_on(body());
}

task<> waits() {
  const no_await here;
  co_await skua::yield();
}

using no_await_death = no_await_in;
INSTANTIATE_TEST_SUITE_P(runtimes, no_await_death, testing::Values(skua_test::alone),
                         skua_test::name_of_kind);

TEST_P(no_await_death, who_waits_is_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(start().block_on(waits()), "does not wait while it has a no_await");
  auto in_chain = []() -> task<> { static_cast<void>(co_await skua::parallel_all(waits())); };
  EXPECT_DEATH(start().block_on(in_chain()), "does not wait while it has a no_await");
  auto in_branch = []() -> task<> {
    auto lasts = []() -> task<> {
      const no_await here;
      for (int i = 0; i < 1'000; ++i) co_await skua::yield();
    };
    static_cast<void>(co_await skua::when_all(lasts()));
  };
  EXPECT_DEATH(start().block_on(in_branch()), "does not wait while it has a no_await");
}

}  // namespace
