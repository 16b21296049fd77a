// tests/time/time_limit_test.cpp: what comes first, the end, the time or a stop, decides.
#include "skua/time/time_limit.hpp"

#include "skua/base/clock.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace {

using namespace std::chrono_literals;
using skua::await_in_time;
using skua::instant;
using skua::result;
using skua::task;
using skua::time_span;
using skua_test::shared_gate;

enum class end : unsigned char { none, value, time };

task<int> wait_in(shared_gate& at, bool lets_go) {
  co_return static_cast<int>(co_await shared_gate::wait(at, lets_go));
}

task<> wait_in_time(instant until, shared_gate& at, bool lets_go, end& how) {
  const result<int> got = co_await await_in_time(until, wait_in(at, lets_go));
  how = got.has_value() ? end::value : end::time;
}

task<> give_way_often() {
  for (int i = 0; i < 200; ++i) co_await skua::yield();
}

/// Runs a test with a clock that it moves.
template <typename Test>
void with_a_clock(Test body) {
  for (const skua_test::kind& one : {skua_test::alone, skua_test::one_worker}) {
    skua::manual_clock time(5);
    skua::config settings = one.settings();
    settings.clock = &time;
    auto rt = skua_test::started(settings);
    rt.block_on(body(time));
  }
}

TEST(time_limit, strikes_at_its_time_and_not_before) {
  with_a_clock([](skua::manual_clock& time) -> task<> {
    shared_gate at;
    end how = end::none;
    auto waits = skua::spawn(wait_in_time(skua::now() + 1s, at, true, how));
    co_await give_way_often();
    time.advance(999'999'999);
    co_await give_way_often();
    EXPECT_EQ(how, end::none);
    time.advance(1);
    co_await std::move(waits);
    EXPECT_EQ(how, end::time);
    EXPECT_EQ(at.waiters(), 0U);
  });
}

TEST(time_limit, that_strikes_waits_for_the_end_of_what_it_stopped) {
  with_a_clock([](skua::manual_clock& time) -> task<> {
    for (const bool cancelled : {false, true}) {
      shared_gate at;
      end how = end::none;
      auto waits = skua::spawn(wait_in_time(skua::now() + 1s, at, false, how));
      co_await give_way_often();
      time.advance(2'000'000'000);
      co_await give_way_often();
      EXPECT_EQ(how, end::none) << "it does not let go";
      EXPECT_TRUE(cancelled ? at.open_one_cancelled() : at.open_one());
      co_await std::move(waits);
      EXPECT_EQ(how, cancelled ? end::time : end::value);
    }
  });
}

// Whoever is stopped unwinds: it does not hear of a time that was up while it did.
TEST(time_limit, is_no_reason_any_more_once_the_task_is_to_stop) {
  with_a_clock([](skua::manual_clock& time) -> task<> {
    for (const bool time_is_first : {false, true}) {
      shared_gate at;
      end how = end::none;
      auto waits = skua::spawn(wait_in_time(skua::now() + 1s, at, false, how));
      co_await give_way_often();
      if (!time_is_first) waits.abort();
      co_await give_way_often();
      time.advance(2'000'000'000);
      co_await give_way_often();
      if (time_is_first) waits.abort();
      EXPECT_TRUE(at.open_one_cancelled());
      const bool stopped = (co_await waits.outcome()).stopped();
      EXPECT_EQ(how, time_is_first ? end::time : end::none);
      EXPECT_EQ(stopped, !time_is_first) << "it waits for nothing after that";
    }
  });
}

// The time is up while the work ends: the clock's message is on its way, and is waited for.
task<int> stop_yourself() {
  skua::context& own = co_await skua::current_context();
  own.request_stop();
  co_await skua::yield();
  co_return 1;
}

TEST(time_limit, is_no_reason_for_what_has_stopped_itself) {
  auto body = []() -> task<> {
    EXPECT_THROW(co_await skua::timeout(1h, stop_yourself()), skua::task_cancelled);
  };
  skua_test::started(skua_test::alone.settings()).block_on(body());
}

TEST(time_limit, that_is_late_is_waited_for) {
  auto ends_at_the_same_time = [](shared_gate& at) -> task<> {
    for (int i = 0; i < 2'000; ++i) {
      end how = end::none;
      auto waits = skua::spawn(wait_in_time(skua::now() + 20us, at, true, how));
      const instant then = skua::now() + 20us;
      while (skua::now() < then) co_await skua::yield();
      at.open_one();
      co_await std::move(waits);
      EXPECT_NE(how, end::none);
    }
  };
  for (const std::size_t workers : {1U, 2U}) {
    skua::config settings;
    settings.workers = workers;
    auto rt = skua_test::started(settings);
    shared_gate at;
    rt.block_on(ends_at_the_same_time(at));
    EXPECT_EQ(at.waiters(), 0U);
  }
}

TEST(time_limit, of_a_long_time_strikes_after_it) {
  auto rt = skua_test::started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    shared_gate never;
    const instant begun = skua::now();
    const auto got = co_await await_in_time(time_span(1s), wait_in(never, true));
    EXPECT_EQ(got.error(), std::errc::timed_out);
    EXPECT_GE(skua::now() - begun, 1s);
  };
  rt.block_on(body());
}

task<> wait_a_second(shared_gate& at, end& how) {
  const result<int> got = co_await skua::timeout(1s, wait_in(at, true));
  how = got.has_value() ? end::value : end::time;
}

// A long one begins when the worker looks at the clock. If it did so only when somebody drives the
// runtime again, its second would come after the sleep.
TEST(time_limit, goes_on_while_nobody_drives_the_runtime) {
  shared_gate at;
  end how = end::none;
  auto rt = skua_test::started(skua_test::alone.settings());
  rt.block_on([](shared_gate& gate, end& ended) -> task<> {
    skua::spawn_background(wait_a_second(gate, ended)).detach();
    co_await skua::yield();
  }(at, how));
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(how, end::none);
  rt.block_on([]() -> task<> { co_await skua::sleep(300ms); }());
  EXPECT_EQ(how, end::time);
}

}  // namespace
