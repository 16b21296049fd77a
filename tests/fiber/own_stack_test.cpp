// tests/fiber/own_stack_test.cpp: plain functions that wait: values, exceptions, stops, misuse.
#include "skua/base/sanitizer.hpp"
#include "skua/fiber.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::task;
using skua_test::shared_gate;
namespace fiber = skua::fiber;

class fibers : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fibers, skua_test::every_kind(), skua_test::name_of_kind);

/// Says when it goes.
class witness {
public:
  explicit witness(int& gone) : gone_(gone) {}
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() { ++gone_; }

private:
  int& gone_;
};

task<int> doubled(int n) {
  co_await skua::yield();
  co_return 2 * n;
}
task<> at_once() {
  co_return;
}
task<> fails() {
  co_await skua::yield();
  throw std::runtime_error("of the coroutine");
}

/// Awaits at the bottom of many calls.
int deep(int depth) {
  if (depth == 0) return fiber::await(doubled(21));
  const int found = deep(depth - 1);
  return found + (depth & 0);
}

TEST_P(fibers, await_from_any_depth_and_give_what_their_function_gives) {
  auto body = []() -> task<> {
    int seen = 0;
    const int answer = co_await fiber::run([&] {
      seen = deep(50);
      return seen + 1;
    });
    EXPECT_EQ(seen, 42);
    EXPECT_EQ(answer, 43);
    auto& same = co_await fiber::run([&]() -> int& {
      fiber::await(skua::yield());
      return seen;
    });
    EXPECT_EQ(&same, &seen);
    auto handle = fiber::spawn(deep, 10);
    EXPECT_EQ(co_await std::move(handle), 42);
  };
  start().block_on(body());
}

TEST_P(fibers, own_what_they_are_spawned_with) {
  auto body = []() -> task<> {
    auto join = [](std::unique_ptr<std::string> text, int n) {
      fiber::await(skua::yield());
      return *text + std::to_string(n);
    };
    auto text = std::make_unique<std::string>("fiber ");
    auto handle = fiber::spawn(join, std::move(text), 7);
    EXPECT_EQ(co_await std::move(handle), "fiber 7");
    int counted = 0;
    auto count = [](int& n) { ++n; };
    co_await fiber::spawn(count, std::ref(counted));
    EXPECT_EQ(counted, 1);
  };
  start().block_on(body());
}

TEST_P(fibers, throw_through_await_in_both_directions) {
  auto body = []() -> task<> {
    std::string caught;
    auto catches = [&] {
      try {
        fiber::await(fails());
      } catch (const std::runtime_error& error) {
        caught = error.what();
      }
      throw std::logic_error("of the fiber");
    };
    std::string out;
    try {
      co_await fiber::run(catches);
    } catch (const std::logic_error& error) {
      out = error.what();
    }
    EXPECT_EQ(caught, "of the coroutine");
    EXPECT_EQ(out, "of the fiber");
  };
  start().block_on(body());
}

// The C++ runtime keeps track of exceptions thread by thread.
TEST_P(fibers, may_await_in_a_catch_block_and_throw_on) {
  auto one = [](int own) {
    int right = 0;
    for (int round = 0; round < 50; ++round) {
      try {
        try {
          throw own + round;
        } catch (...) {
          for (int i = 0; i < 3; ++i) fiber::await(skua::yield());
          throw;
        }
      } catch (int mine) {
        if (mine == own + round && std::uncaught_exceptions() == 0) ++right;
      }
    }
    return right;
  };
  auto body = [](decltype(one) what) -> task<> {
    std::vector<skua::join_handle<int>> all;
    for (int i = 0; i < 20; ++i) all.push_back(fiber::spawn(what, 1'000 * i));
    for (auto& each : all) EXPECT_EQ(co_await std::move(each), 50);
  };
  start().block_on(body(one));
}

TEST_P(fibers, await_everything_that_a_coroutine_can) {
  auto body = []() -> task<> {
    co_await fiber::run([] {
      auto [tx, rx] = skua::mpsc::channel<int>(1);
      auto sends = [](auto to) -> task<> { EXPECT_TRUE(co_await to.send(5)); };
      auto handle = skua::spawn(sends, std::move(tx));
      EXPECT_EQ(fiber::await(rx.receive()), 5);
      fiber::await(std::move(handle));
      const auto timed = fiber::await(skua::timeout(1ms, rx.receive()));
      static_cast<void>(timed);
      auto [a, b] = fiber::await(skua::when_all(doubled(1), doubled(2)));
      EXPECT_EQ(a + b, 6);
      EXPECT_EQ(fiber::await(skua::spawn_blocking([] { return 8; })), 8);
      skua::mutex lock;
      {
        const auto held = fiber::await(lock.lock());
      }
      EXPECT_TRUE(fiber::await(skua::as_outcome(fails())).has_exception());
      EXPECT_EQ(fiber::await(fiber::run([] { return fiber::await(doubled(4)); })), 8);
    });
  };
  start().block_on(body());
}

TEST_P(fibers, that_are_aborted_unwind_their_stack_and_count_as_stopped) {
  auto body = []() -> task<> {
    shared_gate gate;
    int gone = 0;
    auto waits = [](shared_gate& at, int& count) {
      const witness first(count);
      auto deeper = [&] {
        const witness second(count);
        try {
          fiber::await(shared_gate::wait(at));
        } catch (const std::exception&) {
          ADD_FAILURE() << "cancelled is no std::exception";
        }
        ADD_FAILURE() << "it goes on";
      };
      deeper();
    };
    auto handle = fiber::spawn(waits, std::ref(gate), std::ref(gone));
    while (gate.waiters() == 0) co_await skua::yield();
    EXPECT_TRUE(handle.abort());
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_EQ(gone, 2);
    EXPECT_EQ(gate.cancels(), 1U);
  };
  start().block_on(body());
}

TEST_P(fibers, that_swallow_a_stop_get_it_again_at_every_await) {
  auto body = []() -> task<> {
    shared_gate gate;
    int thrown = 0;
    int shielded = 0;
    auto stubborn = [](shared_gate& at, int& count, int& cleaned) {
      for (int i = 0; i < 5; ++i) {
        try {
          if (i == 0)
            fiber::await(shared_gate::wait(at));
          else
            fiber::await(at_once());
        } catch (...) {
          ++count;
          cleaned += fiber::await_shielded(doubled(1));
        }
      }
      return std::string("a value after all");
    };
    auto handle = fiber::spawn(fiber::options(), stubborn, std::ref(gate), std::ref(thrown),
                               std::ref(shielded));
    while (gate.waiters() == 0) co_await skua::yield();
    handle.abort();
    const auto end = co_await handle.outcome();
    EXPECT_EQ(thrown, 5);
    EXPECT_EQ(shielded, 10);
    const bool gives = end.has_value();
    EXPECT_TRUE(gives && *end == "a value after all");
  };
  start().block_on(body());
}

TEST_P(fibers, run_in_place_end_with_the_task_that_awaits_them) {
  auto body = []() -> task<> {
    shared_gate gate;
    std::vector<std::string> order;
    auto outer = [](shared_gate& at, std::vector<std::string>& to) -> task<> {
      struct noted {
        std::vector<std::string>& to;
        const char* what;
        ~noted() { to.emplace_back(what); }
      };
      const noted mine(to, "coroutine");
      co_await fiber::run([&] {
        const noted inner(to, "fiber");
        auto child = [](shared_gate& g, std::vector<std::string>& l) -> task<> {
          const noted innermost(l, "child");
          co_await shared_gate::wait(g);
        };
        fiber::await(child(at, to));
      });
    };
    auto handle = skua::spawn(outer(gate, order));
    while (gate.waiters() == 0) co_await skua::yield();
    handle.abort();
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(end.stopped());
    const std::vector<std::string> innermost_first = {"child", "fiber", "coroutine"};
    EXPECT_EQ(order, innermost_first);
  };
  start().block_on(body());
}

TEST_P(fibers, that_lose_a_race_have_unwound_when_it_is_over) {
  auto body = []() -> task<> {
    shared_gate never;
    int gone = 0;
    auto loser = [](shared_gate& at, int& count) {
      const witness here(count);
      return fiber::await(shared_gate::wait(at));
    };
    auto losing = fiber::call(loser, std::ref(never), std::ref(gone));
    const auto which = co_await skua::race(doubled(3), std::move(losing));
    EXPECT_EQ(which.index(), 0U);
    EXPECT_EQ(gone, 1);
    const auto late =
        co_await skua::timeout(1ms, fiber::call(loser, std::ref(never), std::ref(gone)));
    static_cast<void>(late);
    EXPECT_EQ(gone, 2);
  };
  start().block_on(body());
}

TEST_P(fibers, that_were_stopped_before_they_began_never_run) {
  auto body = []() -> task<> {
    bool ran = false;
    auto handle = fiber::spawn([](bool& it) { it = true; }, std::ref(ran));
    const bool first = handle.abort();
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(!first || ran != end.stopped());
  };
  start().block_on(body());
}

TEST_P(fibers, are_stopped_by_shutdown) {
  auto rt = start();
  if (!multi()) GTEST_SKIP() << "nobody drives it";
  shared_gate gate;
  int gone = 0;
  auto waits = [](shared_gate& at, int& count) {
    const witness here(count);
    fiber::await(shared_gate::wait(at));
  };
  auto handle = rt.spawn(fiber::call(waits, std::ref(gate), std::ref(gone)));
  gate.await_waiters();
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_EQ(gone, 1);
  EXPECT_TRUE(handle.done());
}

TEST_P(fibers, are_listed_by_name_and_place) {
  auto rt = start();
  auto body = [](const skua::runtime& in) -> task<> {
    shared_gate gate;
    auto waits = [](shared_gate& at) { fiber::await(shared_gate::wait(at)); };
    const unsigned line = __LINE__ + 1;
    auto handle = fiber::spawn(fiber::options().name("parser"), waits, std::ref(gate));
    while (gate.waiters() == 0) co_await skua::yield();
    bool found = false;
    for (const skua::task_info& each : in.tasks()) {
      if (each.id != handle.id()) continue;
      found = true;
      EXPECT_EQ(each.name(), "parser");
      EXPECT_EQ(each.where.line(), line);
      EXPECT_NE(std::string_view(each.where.file_name()).find("own_stack_test"),
                std::string_view::npos);
    }
    EXPECT_TRUE(found);
    gate.open();
    co_await std::move(handle);
  };
  rt.block_on(body(rt));
}

TEST_P(fibers, keep_errno_across_await) {
  auto body = []() -> task<> {
    auto one = [](int own) {
      int right = 0;
      for (int i = 0; i < 100; ++i) {
        // Each in a function of its own: the compiler may remember where a thread's errno is.
        const auto set = [](int value) __attribute__((noinline)) { errno = value; };
        const auto get = []() __attribute__((noinline)) { return errno; };
        set(own);
        fiber::await(skua::yield());
        if (get() == own) ++right;
      }
      return right;
    };
    std::vector<skua::join_handle<int>> all;
    for (int i = 1; i <= 10; ++i) all.push_back(fiber::spawn(one, i));
    for (auto& each : all) EXPECT_EQ(co_await std::move(each), 100);
  };
  start().block_on(body());
}

TEST_P(fibers, give_back_their_stacks) {
  fiber::stack_pool pool;
  auto body = [](fiber::stack_pool& from) -> task<> {
    const auto small = fiber::options().stack_size(fiber::options::least_stack).pool(from);
    std::vector<skua::join_handle<int>> all;
    for (int i = 0; i < 100; ++i) all.push_back(fiber::spawn(small, [] { return deep(3); }));
    for (auto& each : all) EXPECT_EQ(co_await std::move(each), 42);
  };
  start().block_on(body(pool));
  EXPECT_EQ(pool.look().live, 0U);
}

TEST(fiber_without_runtime, runs_under_sync_wait) {
  auto body = []() -> task<int> { co_return co_await fiber::run([] { return deep(2); }); };
  EXPECT_EQ(skua::sync_wait(body()), 42);
}

TEST(fiber_without_runtime, awaits_what_resumes_on_another_thread) {
  struct elsewhere {
    std::thread& by;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const {
      by = std::thread([self] { self.resume(); });
    }
    int await_resume() const noexcept { return 9; }
  };
  std::thread helper;
  auto body = [](std::thread& by) -> task<int> {
    co_return co_await fiber::run([&] {
      elsewhere there{by};
      return fiber::await(there);
    });
  };
  EXPECT_EQ(skua::sync_wait(body(helper)), 9);
  helper.join();
}

TEST(fiber_without_runtime, tells_address_sanitizer_where_its_stack_is) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if constexpr (!skua::built_with_asan) GTEST_SKIP() << "this build has none";
  const auto throws_on_a_fiber = [] {
    auto body = []() -> task<> {
      EXPECT_THROW(co_await fiber::run([] { fiber::await(fails()); }), std::runtime_error);
    };
    skua::sync_wait(body());
    std::_Exit(0);
  };
  // It would say that it ignores a throw on a stack that it does not know.
  EXPECT_EXIT(throws_on_a_fiber(), testing::ExitedWithCode(0), "^$");
}

TEST(fiber_misuse, of_await_outside_a_fiber_ends_the_program_with_the_rule) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_FALSE(fiber::inside());
  EXPECT_DEATH(fiber::await(skua::yield()), "own_stack_test.*await\\(\\) is called on a fiber");
  const auto in_coroutine = []() -> task<> {
    co_await fiber::run([] {
      fiber::await([]() -> task<> {
        fiber::await(skua::yield());  // of the coroutine, which has no stack of its own
        co_return;
      }());
    });
  };
  EXPECT_DEATH(skua::sync_wait(in_coroutine()), "await\\(\\) is called on a fiber");
}

TEST(fiber_misuse, of_await_in_a_blocking_section_ends_the_program_with_the_rule) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto dies = [] {
    auto rt = skua_test::started(skua_test::two_workers.settings());
    rt.block_on([]() -> task<> {
      co_await fiber::run([] { skua::block_in_place([] { fiber::await(skua::yield()); }); });
    }());
  };
  EXPECT_DEATH(dies(), "nothing is awaited inside");
}

TEST(fiber_misuse, of_a_stack_that_is_too_small_ends_the_program_with_the_rule) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(fiber::options().stack_size(4'096)), "at least 16 KiB");
  EXPECT_DEATH(static_cast<void>(fiber::options().stack_size(std::size_t{1} << 40)),
               "at most 1 GiB");
}

}  // namespace
