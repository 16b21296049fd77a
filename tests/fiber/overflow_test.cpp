// tests/fiber/overflow_test.cpp: a stack that overflows ends the process, and says whose it was.
#include "skua/base/sanitizer.hpp"
#include "skua/fiber.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace {

using skua::task;
namespace fiber = skua::fiber;

std::atomic<bool> never{false};

/// Takes a little more of the stack with each call; the end cannot be foreseen.
[[gnu::noinline]] std::size_t endless(std::size_t depth) {
  std::array<std::atomic<std::size_t>, 16> used;
  for (auto& each : used) each = depth;
  if (never) return depth;
  return endless(depth + 1) + used[depth % used.size()];
}

class overflow : public testing::TestWithParam<skua_test::kind> {
protected:
  overflow() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(on, overflow, testing::Values(skua_test::alone, skua_test::two_workers),
                         skua_test::name_of_kind);

void overflow_in(const skua_test::kind& which) {
  auto rt = skua_test::started(which.settings());
  rt.block_on([]() -> task<> {
    const auto how = fiber::options().name("too deep").stack_size(fiber::options::least_stack);
    auto body = [] {
      fiber::await(skua::yield());
      return endless(0);
    };
    co_await fiber::spawn(how, body);
  }());
}

TEST_P(overflow, names_the_fiber_if_asked_to) {
  const auto dies = [&] {
    if (!fiber::explain_overflows()) std::abort();
    if (!fiber::explain_overflows()) std::abort();  // again is nothing
    overflow_in(GetParam());
  };
  EXPECT_DEATH(dies(),
               "fiber 'too deep' of .*overflow_test.cpp:[0-9]+ has overflowed its stack "
               "of [0-9]+ bytes; fiber::options..\\.stack_size");
}

TEST_P(overflow, ends_the_process_at_the_guard_in_any_case) {
  if constexpr (skua::built_with_asan || skua::built_with_tsan)
    GTEST_SKIP() << "has a handler of its own";
  EXPECT_EXIT(overflow_in(GetParam()), testing::KilledBySignal(SIGSEGV), "");
}

void says_its_name(int) {
  constexpr char name[] = "the handler before\n";
  const ssize_t lost = ::write(STDERR_FILENO, name, sizeof name - 1);
  static_cast<void>(lost);
  ::_exit(7);
}

TEST_P(overflow, goes_on_to_the_handler_that_was_there_before) {
  const auto dies = [&] {
    ::signal(SIGSEGV, says_its_name);
    if (!fiber::explain_overflows()) std::abort();
    overflow_in(GetParam());
  };
  EXPECT_EXIT(dies(), testing::ExitedWithCode(7), "has overflowed its stack.*\nthe handler before");
}

TEST_P(overflow, is_not_named_where_another_fault_is) {
  if constexpr (skua::built_with_asan || skua::built_with_tsan)
    GTEST_SKIP() << "has a handler of its own";
  const auto dies = [&] {
    if (!fiber::explain_overflows()) std::abort();
    auto rt = skua_test::started(GetParam().settings());
    rt.block_on([]() -> task<> { co_await fiber::run([] { ::raise(SIGSEGV); }); }());
  };
  EXPECT_EXIT(dies(), testing::KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
