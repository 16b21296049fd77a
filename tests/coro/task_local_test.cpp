// tests/coro/task_local_test.cpp: a value holds for what is awaited beneath it, and no longer.
#include "skua/coro/task_local.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/coro/yield.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace {

using skua::task;
using skua::task_local;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

const task_local<std::string> name;
const task_local<int> number;

task<std::string> read_name() {
  const std::string* const found = co_await name.get();
  co_return found != nullptr ? *found : "none";
}
task<int> read_number() {
  const int* const found = co_await number.get();
  co_return found != nullptr ? *found : 0;
}

template <typename T>
T run(task<T> what) {
  manual_executor here;
  driven<T> all(here, std::move(what));
  here.run_ready();
  return std::move(all.result()).value();
}

TEST(task_local, has_no_value_where_none_was_given) {
  EXPECT_EQ(run(read_name()), "none");
}

TEST(task_local, holds_for_what_is_awaited_beneath_it) {
  auto body = []() -> task<std::string> {
    std::string seen = co_await name.with("outer", read_name());
    seen += co_await read_name();
    co_return seen;
  };
  EXPECT_EQ(run(body()), "outernone");
}

TEST(task_local, the_innermost_value_holds) {
  auto inner = []() -> task<std::string> {
    std::string seen = co_await read_name();
    seen += ' ';
    seen += co_await name.with("inner", read_name());
    seen += ' ';
    seen += co_await read_name();
    co_return seen;
  };
  EXPECT_EQ(run(name.with("outer", inner())), "outer inner outer");
}

TEST(task_local, keys_do_not_get_into_each_others_way) {
  auto both = []() -> task<std::string> {
    const std::string text = co_await read_name();
    const int count = co_await read_number();
    co_return text + std::to_string(count);
  };
  EXPECT_EQ(run(name.with("x", number.with(7, both()))), "x7");
}

TEST(task_local, can_be_changed_in_place) {
  auto body = []() -> task<int> {
    *co_await number.get() += 1;
    co_return co_await read_number();
  };
  EXPECT_EQ(run(number.with(1, body())), 2);
}

TEST(task_local, holds_for_branches_which_may_have_values_of_their_own) {
  auto body = []() -> task<std::string> {
    auto [one, two, three] = co_await when_all(read_name(), name.with("own", read_name()),
                                               skua::as_outcome(read_name()));
    co_return one + two + *three;
  };
  EXPECT_EQ(run(name.with("task", body())), "taskowntask");
}

TEST(task_local, a_stop_passes_through_it_to_the_boundary_beyond) {
  manual_executor here;
  gate at;
  auto waits = [](gate& where) -> task<int> { co_return co_await gate::wait(where); };
  auto body = [&waits](gate& where) -> task<std::string> {
    auto how =
        co_await skua::as_outcome(name.with("a", number.with(1, name.with("b", waits(where)))));
    std::string seen = how.stopped() ? "stopped " : "went on ";
    const std::string* const left = co_await name.get();
    seen += left != nullptr ? *left : "none";
    co_return seen;
  };
  driven<std::string> all(here, name.with("outer", body(at)));
  here.run_ready();
  ASSERT_TRUE(at.waited_for());
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), "stopped outer");
}

TEST(task_local, a_stop_of_the_whole_task_leaves_nothing) {
  manual_executor here;
  gate at;
  auto waits = [](gate& where) -> task<int> { co_return co_await gate::wait(where); };
  driven<int> all(here, number.with(1, waits(at)));
  here.run_ready();
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
}

TEST(task_local, is_inherited_on_request_by_a_copy) {
  manual_executor here;
  auto body = [](manual_executor& on) -> task<std::string> {
    driven<std::string> child(on, co_await name.inherited_by(read_name()));
    driven<std::string> stranger(on, read_name());
    *co_await name.get() = "changed";
    while (!child.ended() || !stranger.ended()) co_await skua::yield();
    co_return *child.result() + *stranger.result();
  };
  driven<std::string> all(here, name.with("mine", body(here)));
  here.run_ready();
  EXPECT_EQ(*all.result(), "minenone");
  EXPECT_EQ(run(task<std::string>(run(name.inherited_by(read_name())))), "none");
}

}  // namespace
