// tests/coro/leaf_test.cpp: a task waits in a leaf, is resumed by it, or is stopped in it.
#include "skua/coro/leaf.hpp"

#include "skua/base/error.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using skua::cancel_answer;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

task<int> wait_for(gate& at) {
  co_return co_await gate::wait(at);
}

task<int> wait_twice(gate& first, gate& second) {
  const int one = co_await gate::wait(first);
  co_return one + co_await gate::wait(second);
}

TEST(leaf, resumes_the_task_on_its_executor_when_completed) {
  manual_executor here;
  gate at;
  driven<int> one(here, wait_for(at));
  here.run_ready();
  EXPECT_TRUE(at.waited_for());
  at.open(7);
  EXPECT_FALSE(one.ended()) << "complete() only schedules";
  here.run_ready();
  EXPECT_EQ(*one.result(), 7);
}

TEST(leaf, completed_inside_start_goes_on_without_parking) {
  manual_executor here;
  gate at;
  at.opens_at_start = true;
  driven<int> one(here, wait_for(at));
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(*one.result(), 0);
}

TEST(leaf, can_be_awaited_again_as_an_lvalue) {
  manual_executor here;
  gate at;
  auto both = [](gate& source) -> task<int> {
    gate::wait one(source);
    const int first = co_await one;
    co_return first * 10 + co_await one;
  };
  driven<int> whole(here, both(at));
  here.run_ready();
  at.open(1);
  here.run_ready();
  at.open(2);
  here.run_ready();
  EXPECT_EQ(*whole.result(), 12);
}

TEST(leaf, that_detaches_is_stopped_at_once) {
  manual_executor here;
  gate at;
  driven<int> one(here, wait_for(at));
  here.run_ready();
  EXPECT_TRUE(one.request_stop());
  EXPECT_FALSE(one.request_stop());
  EXPECT_EQ(at.cancels(), 1);
  here.run_ready();
  EXPECT_TRUE(one.ended());
  EXPECT_TRUE(one.result().stopped());
}

TEST(leaf, that_is_pending_is_stopped_when_its_source_reports_the_cancellation) {
  manual_executor here;
  gate at;
  at.answer = cancel_answer::pending;
  driven<int> one(here, wait_for(at));
  here.run_ready();
  one.request_stop();
  EXPECT_EQ(here.run_ready(), 0U) << "nothing runs while the source still holds the wait";
  at.open_cancelled();
  here.run_ready();
  EXPECT_TRUE(one.result().stopped());
}

TEST(leaf, a_value_beats_a_stop_which_takes_effect_at_the_next_leaf) {
  manual_executor here;
  gate first;
  gate second;
  first.answer = cancel_answer::pending;
  driven<int> one(here, wait_twice(first, second));
  here.run_ready();
  one.request_stop();
  first.open(3);
  here.run_ready();
  EXPECT_TRUE(one.result().stopped());
  EXPECT_FALSE(second.waited_for()) << "the second leaf never started";
  EXPECT_EQ(second.cancels(), 0);
}

TEST(leaf, a_value_after_the_last_leaf_is_kept_in_spite_of_a_stop) {
  manual_executor here;
  gate at;
  at.answer = cancel_answer::pending;
  driven<int> one(here, wait_for(at));
  here.run_ready();
  one.request_stop();
  at.open(9);
  here.run_ready();
  EXPECT_EQ(*one.result(), 9);
}

TEST(leaf, cancelled_by_somebody_else_is_resumed) {
  manual_executor here;
  gate at;
  driven<int> one(here, wait_for(at));
  here.run_ready();
  at.open_cancelled();
  here.run_ready();
  EXPECT_TRUE(one.result().has_value());
}

TEST(leaf, does_not_start_in_a_task_that_was_asked_to_stop) {
  manual_executor here;
  gate first;
  gate second;
  driven<int> one(here, wait_twice(first, second));
  here.run_ready();
  first.open();
  one.request_stop();  // queued to run: the next leaf sees it
  here.run_ready();
  EXPECT_TRUE(one.result().stopped());
  EXPECT_FALSE(second.waited_for());
}

/// Keeps a ticket of every wait, as a source does that cannot take a call back.
class ticketed final : public skua::leaf {
public:
  explicit ticketed(std::vector<skua::wait_ticket>& to) noexcept : to_(to) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override { to_.push_back(ticket()); }
  cancel_answer cancel() noexcept override { return cancel_answer::detached; }

  std::vector<skua::wait_ticket>& to_;
};

TEST(leaf, a_ticket_of_an_earlier_wait_does_not_complete_the_next_one_at_the_same_address) {
  manual_executor here;
  std::vector<skua::wait_ticket> tickets;
  int waits_over = 0;
  auto body = [](std::vector<skua::wait_ticket>& to, int& over) -> task<> {
    for (int i = 0; i < 2; ++i) {
      co_await ticketed(to);
      ++over;
    }
  };
  driven<void> one(here, body(tickets, waits_over));
  here.run_ready();
  tickets.at(0).complete();
  here.run_ready();
  EXPECT_EQ(waits_over, 1);
  tickets[0].complete();
  tickets[0].complete_cancelled();
  EXPECT_EQ(here.run_ready(), 0U);
  EXPECT_FALSE(one.ended());
  tickets.at(1).complete();
  here.run_ready();
  EXPECT_TRUE(one.ended());
}

TEST(leaf, completed_before_it_was_awaited_is_an_error) {
  gate at;
  gate::wait never(at);
  EXPECT_DEATH(never.complete(), "only after it was awaited");
}

/// Asks its own context to stop while it starts, as another thread might.
class stops_while_starting final : public skua::leaf {
public:
  stops_while_starting(skua::context*& whole, cancel_answer answer) noexcept
      : whole_(whole), answer_(answer) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override { whole_->request_stop(); }
  cancel_answer cancel() noexcept override {
    if (answer_ == cancel_answer::pending) complete_cancelled();  // at once, inside cancel()
    return answer_;
  }

  skua::context*& whole_;
  cancel_answer answer_;
};

TEST(leaf, a_stop_between_arming_and_parking_is_carried_out_by_the_runner) {
  for (const cancel_answer answer : {cancel_answer::detached, cancel_answer::pending}) {
    manual_executor here;
    skua::context* self = nullptr;
    auto body = [](skua::context*& whole, cancel_answer how) -> task<> {
      co_await stops_while_starting(whole, how);
    };
    driven<void> one(here, body(self, answer));
    self = &one;
    EXPECT_EQ(here.run_ready(), 1U) << "no detour through the queue";
    EXPECT_TRUE(one.ended());
    EXPECT_TRUE(one.result().stopped());
  }
}

TEST(leaf, that_is_postponed_starts_in_the_next_turn) {
  manual_executor here;
  gate at;
  at.is_postponed = true;
  driven<int> one(here, wait_for(at));
  EXPECT_TRUE(here.run_one());
  EXPECT_FALSE(at.waited_for());
  EXPECT_TRUE(here.run_one()) << "it is ready all the same";
  EXPECT_TRUE(at.waited_for());
  EXPECT_FALSE(here.run_one()) << "it waits";
  at.open(7);
  here.run_ready();
  EXPECT_EQ(*one.result(), 7);
}

TEST(leaf, that_is_postponed_and_completed_inside_start_goes_on_in_that_turn) {
  manual_executor here;
  gate first;
  gate second;
  first.is_postponed = first.opens_at_start = true;
  driven<int> both(here, wait_twice(first, second));
  EXPECT_EQ(here.run_ready(), 2U);
  EXPECT_TRUE(second.waited_for());
  second.open(3);
  here.run_ready();
  EXPECT_EQ(*both.result(), 3);
}

TEST(leaf, that_is_postponed_does_not_start_in_a_task_that_was_asked_to_stop) {
  for (const bool before : {true, false}) {
    manual_executor here;
    gate first;
    gate second;
    second.is_postponed = true;
    driven<int> both(here, wait_twice(first, second));
    here.run_ready();
    first.open();
    if (before) both.request_stop();
    EXPECT_TRUE(here.run_one());
    EXPECT_EQ(both.ended(), before);
    both.request_stop();
    here.run_ready();
    ASSERT_TRUE(both.ended());
    EXPECT_TRUE(both.result().stopped());
    EXPECT_FALSE(second.waited_for());
    EXPECT_EQ(second.cancels(), 0);
  }
}

TEST(leaf, that_was_postponed_is_stopped_where_it_waits) {
  manual_executor here;
  gate at;
  at.is_postponed = true;
  driven<int> one(here, wait_for(at));
  EXPECT_EQ(here.run_ready(), 2U);
  one.request_stop();
  here.run_ready();
  ASSERT_TRUE(one.ended());
  EXPECT_TRUE(one.result().stopped());
  EXPECT_EQ(at.cancels(), 1);
}

TEST(context, a_task_stopped_before_its_start_never_runs_a_line) {
  manual_executor here;
  bool ran = false;
  auto owned = std::make_shared<int>(1);
  auto body = [](bool& flag, std::shared_ptr<int>) -> task<> {
    flag = true;
    co_return;
  };
  driven<void> one(here, body(ran, owned));
  one.request_stop();
  here.run_ready();
  EXPECT_TRUE(one.result().stopped());
  EXPECT_FALSE(ran);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(context, a_task_without_a_leaf_ends_with_its_value_in_spite_of_a_stop) {
  manual_executor here;
  driven<void>* self = nullptr;
  auto body = [](driven<void>*& whole) -> task<> {
    whole->request_stop();
    co_return;
  };
  driven<void> one(here, body(self));
  self = &one;
  here.run_ready();
  EXPECT_TRUE(one.result().has_value());
}

TEST(context, a_stop_after_the_end_changes_nothing) {
  manual_executor here;
  gate at;
  driven<int> one(here, wait_for(at));
  here.run_ready();
  at.open(1);
  here.run_ready();
  EXPECT_TRUE(one.request_stop());
  EXPECT_EQ(*one.result(), 1);
}

TEST(context, catch_all_does_not_swallow_a_stop) {
  manual_executor here;
  gate at;
  bool caught = false;
  auto body = [](gate& source, bool& flag) -> task<> {
    try {
      co_await gate::wait(source);
    } catch (...) {
      flag = true;
    }
  };
  driven<void> one(here, body(at, caught));
  here.run_ready();
  one.request_stop();
  here.run_ready();
  EXPECT_TRUE(one.result().stopped());
  EXPECT_FALSE(caught);
}

TEST(context, a_destructor_that_throws_in_a_frame_destroyed_early_ends_the_program) {
  struct fuse {
    fuse() = default;
    ~fuse() noexcept(false) { throw 1; }
  };
  auto body = [](gate& source) -> task<> {
    const fuse lit;
    co_await gate::wait(source);
  };
  EXPECT_DEATH(
      {
        manual_executor here;
        gate at;
        driven<void> one(here, body(at));
        here.run_ready();
        one.request_stop();
        here.run_ready();
      },
      "terminate");
  auto owned = [](gate& source) -> skua::async_generator<int> {
    const fuse lit;
    co_yield 1;
    co_await gate::wait(source);
  };
  EXPECT_DEATH(
      {
        gate unused;
        auto dropped = owned(unused);
        skua::sync_wait(dropped.next());
      },
      "terminate");
  auto failing = []() -> task<skua::result<void>> {
    const fuse lit;
    co_await skua::or_return(skua::result<void>(skua::fail(std::errc::timed_out)));
    co_return {};
  };
  EXPECT_DEATH((void)skua::sync_wait(failing()), "terminate");
}

TEST(context, destroyed_while_its_task_waits_is_an_error) {
  EXPECT_DEATH(
      {
        manual_executor here;
        gate at;
        driven<int> one(here, wait_for(at));
        here.run_ready();
      },
      "a context ends before it is destroyed");
}

}  // namespace
