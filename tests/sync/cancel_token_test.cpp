// tests/sync/cancel_token_test.cpp: who waits for a cancellation learns of it, or stops waiting.
#include "skua/sync/cancel_token.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "skua/sync/cancel_source.hpp"
#include "support/memory_limit.hpp"
#include "support/noted.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::cancel_source;
using skua::cancel_token;
using skua::result;
using skua::spawn;
using skua::task;
using skua_test::shared_gate;

class cancel_tokens : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, cancel_tokens, skua_test::every_kind(), skua_test::name_of_kind);

task<> wait_for(cancel_token token) {
  co_await token.wait();
}
task<int> give(int value) {
  co_return value;
}
task<int> for_ever() {
  co_await skua::sleep(24h);
  co_return 0;
}

bool was_cancelled(const auto& what) {
  return !what.has_value() && what.error() == std::errc::operation_canceled;
}

TEST(cancel_token, of_nothing_is_never_cancelled) {
  const cancel_token none;
  EXPECT_FALSE(none.is_cancelled());
  EXPECT_EQ(none, cancel_token());
}

TEST_P(cancel_tokens, let_all_who_wait_go_on) {
  auto rt = start();
  auto body = []() -> task<> {
    cancel_source source;
    const cancel_source child = source.child();
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(spawn(wait_for(source.token())));
      all.push_back(spawn(wait_for(child.token())));
    }
    for (int i = 0; i < 5; ++i) co_await skua::yield();
    for (const auto& one : all) EXPECT_FALSE(one.done());
    source.cancel();
    for (auto& one : all) co_await std::move(one);
    co_await source.token().wait();  // at once
  };
  rt.block_on(body());
}

TEST_P(cancel_tokens, are_cancelled_by_threads_outside) {
  auto rt = start();
  cancel_source source;
  std::thread other([source] { source.cancel(); });
  rt.block_on(wait_for(source.token()));
  other.join();
}

TEST_P(cancel_tokens, may_be_gone_right_after_the_wait) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 100; ++i) {
      std::optional<cancel_source> source(std::in_place);
      auto cancels = [](cancel_source which) -> task<> {
        which.cancel();
        co_return;
      };
      auto canceller = spawn(cancels(*source));
      co_await source->token().wait();
      source.reset();
      co_await std::move(canceller);
    }
  };
  rt.block_on(body());
}

TEST_P(cancel_tokens, forget_who_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    const cancel_source source;
    for (const cancel_token& token : {source.token(), cancel_token()}) {
      for (const int turns : {0, 1, 5}) {
        auto waits = spawn(wait_for(token));
        for (int i = 0; i < turns; ++i) co_await skua::yield();
        waits.abort();
        EXPECT_TRUE((co_await waits.outcome()).stopped());
      }
    }
    source.cancel();
  };
  rt.block_on(body());
}

// The one that loses was told already, and must not be missed by anybody.
TEST_P(cancel_tokens, may_lose_a_race_in_the_same_step) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 100; ++i) {
      const cancel_source source;
      const cancel_token token = source.token();
      auto cancels = [](cancel_source which) -> task<> {
        which.cancel();
        co_return;
      };
      auto canceller = spawn(cancels(source));
      co_await skua::race(token.wait(), token.wait(), token.wait());
      co_await std::move(canceller);
      EXPECT_TRUE(token.is_cancelled());
    }
  };
  rt.block_on(body());
}

TEST_P(cancel_tokens, guard_what_ends_by_itself) {
  auto rt = start();
  auto body = []() -> task<> {
    const cancel_source source;
    const cancel_token token = source.token();
    const result<int> number = co_await token.guard(give(3));
    EXPECT_EQ(number, 3);
    const result<void> slept = co_await token.guard(skua::sleep(1ms));
    EXPECT_TRUE(slept.has_value());
    auto fails = []() -> task<result<int>> { co_return skua::fail(std::errc::io_error); };
    const result<int> error = co_await token.guard(fails());
    EXPECT_EQ(error.error(), std::errc::io_error);
    const result<int> unlimited = co_await cancel_token().guard(give(4));
    EXPECT_EQ(unlimited, 4);
  };
  rt.block_on(body());
  auto throws = []() -> task<> {
    const cancel_source source;
    auto fails = []() -> task<> {
      throw std::runtime_error("no");
      co_return;
    };
    static_cast<void>(co_await source.token().guard(fails()));
  };
  EXPECT_THROW(rt.block_on(throws()), std::runtime_error);
}

TEST_P(cancel_tokens, stop_what_they_guard) {
  auto rt = start();
  auto body = []() -> task<> {
    auto guarded = [](cancel_token token, shared_gate& at, std::string& told) -> task<> {
      auto waits = [](shared_gate& where, std::string& into) -> task<> {
        const skua_test::noted end(into, "unwound, ");
        co_await shared_gate::wait(where);
      };
      const auto got = co_await token.guard(waits(at, told));
      EXPECT_TRUE(was_cancelled(got));
      told += "then went on";
    };
    const cancel_source source;
    const cancel_source child = source.child();
    shared_gate at;
    std::string told;
    auto runs = skua::spawn_local(guarded(child.token(), at, told));
    while (at.waiters() == 0) co_await skua::yield();
    source.cancel();
    co_await std::move(runs);
    EXPECT_EQ(told, "unwound, then went on");
    EXPECT_EQ(at.waiters(), 0U);
  };
  rt.block_on(body());
}

TEST_P(cancel_tokens, do_not_begin_what_was_called_off_before) {
  auto rt = start();
  auto body = []() -> task<> {
    bool begun = false;
    auto begins = [](bool& flag) -> task<> {
      flag = true;
      co_return;
    };
    const cancel_source source;
    source.cancel();
    const auto got = co_await source.token().guard(begins(begun));
    EXPECT_TRUE(was_cancelled(got));
    EXPECT_FALSE(begun);
  };
  rt.block_on(body());
}

TEST_P(cancel_tokens, give_the_value_that_came_all_the_same) {
  auto rt = start();
  auto body = []() -> task<> {
    auto guarded = [](cancel_token token, shared_gate& at) -> task<std::uint64_t> {
      auto waits = [](shared_gate& where) -> task<std::uint64_t> {
        co_return co_await shared_gate::wait(where, false);  // does not let go
      };
      const auto got = co_await token.guard(waits(at));
      co_return got.value_or(0);
    };
    const cancel_source source;
    shared_gate kernel;
    auto runs = skua::spawn_local(guarded(source.token(), kernel));
    while (kernel.waiters() == 0) co_await skua::yield();
    source.cancel();
    for (int i = 0; i < 5; ++i) co_await skua::yield();
    EXPECT_FALSE(runs.done());
    kernel.open_one(9);
    EXPECT_EQ(co_await std::move(runs), 9U);
  };
  rt.block_on(body());
}

TEST_P(cancel_tokens, let_a_stop_of_the_task_through) {
  auto rt = start();
  auto body = []() -> task<> {
    auto guarded = [](cancel_token token, std::atomic<bool>& begun) -> task<> {
      begun = true;
      static_cast<void>(co_await token.guard(for_ever()));
      ADD_FAILURE() << "went on";
    };
    const cancel_source source;
    std::atomic<bool> begun = false;
    auto runs = skua::spawn_local(guarded(source.token(), begun));
    while (!begun) co_await skua::yield();
    runs.abort();
    EXPECT_TRUE((co_await runs.outcome()).stopped());
    EXPECT_FALSE(source.is_cancelled());
  };
  rt.block_on(body());
}

TEST(cancel_token, is_waited_for_by_a_plain_thread) {
  const cancel_source source;
  std::thread other([source] { source.cancel(); });
  skua::sync_wait(wait_for(source.token()));
  other.join();
}

TEST(cancel_token, allocates_nothing_by_waiting) {
  auto rt = skua_test::started(skua_test::alone.settings());
  bool allocated = true;
  auto body = [](bool& any) -> task<> {
    const cancel_source source;
    const cancel_token token = source.token();
    static_cast<void>(co_await token.guard(give(1)));
    const skua_test::memory_limit none(1);
    static_cast<void>(co_await token.guard(give(1)));
    source.cancel();
    co_await token.wait();
    any = none.reached();
  };
  rt.block_on(body(allocated));
  EXPECT_FALSE(allocated);
}

TEST(cancel_token, waited_for_in_a_loop_leaves_time_for_others) {
  auto rt = skua_test::started(skua_test::alone.settings());
  auto body = []() -> task<> {
    const cancel_source source;
    source.cancel();
    bool over = false;
    auto sets = [](bool& flag) -> task<> {
      flag = true;
      co_return;
    };
    auto other = spawn(sets(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) co_await source.token().wait();
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  rt.block_on(body());
}

}  // namespace
