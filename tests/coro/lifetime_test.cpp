// tests/coro/lifetime_test.cpp: what is made is destroyed once, innermost first, however it ends.
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::async_generator;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;
using skua_test::tracked;

constexpr int gates = 8;

/// The suspension points of one run. Opening a gate with -1 makes the waiting coroutine throw.
struct plan {
  std::array<gate, gates> points;

  [[nodiscard]] int waiting_at() const {
    for (int i = 0; i < gates; ++i)
      if (points[static_cast<std::size_t>(i)].waited_for()) return i;
    return -1;
  }
  gate& at(int i) { return points[static_cast<std::size_t>(i)]; }
};

/// An operand of an expression with an await in it. Throws if the gate says so.
int use(int value, const tracked& other) {
  if (value < 0) throw std::runtime_error("told to");
  return value + other.size();
}

// Names start with the depth of their frame: "3 local" ends before "2 local".

task<tracked> innermost(plan& how, int at, tracked parameter) {
  const tracked local("4 local");
  const int value = co_await gate::wait(how.at(at));
  const tracked after("4 after");
  co_return tracked(std::string(static_cast<std::size_t>(use(value, parameter)), 'v'));
}

async_generator<tracked> numbers(plan& how) {
  const tracked local("3 generator local");
  const tracked yielded("3 yielded");
  co_yield yielded;
  const int value = co_await gate::wait(how.at(3));
  co_yield tracked(std::string(static_cast<std::size_t>(use(value, local)), 'g'));
}

task<int> middle(plan& how, tracked parameter, const tracked& borrowed) {
  const tracked local("2 local");
  // A temporary argument, a value moved out of a temporary result.
  tracked result = co_await innermost(how, 0, tracked("3 argument"));
  // A value argument moved from a parameter; a temporary beside the await in one expression.
  const int sum =
      use((co_await innermost(how, 1, std::move(parameter))).size(), tracked("2 beside"));
  // An await inside a call's arguments, and in a condition.
  if ((co_await innermost(how, 2, tracked(local))).size() > 0) result = tracked("2 assigned");
  auto sequence = numbers(how);
  int total = 0;
  while (auto item = co_await sequence.next()) total += item->size();
  co_return sum + total + result.size() + borrowed.size();
}

task<int> outer(plan& how) {
  const tracked local("1 local");
  int total = co_await middle(how, tracked("2 parameter"), tracked("1 borrowed"));
  {
    const tracked block("1 block");
    total += co_await gate::wait(how.at(4));
  }
  try {
    const tracked guarded("1 guarded");
    total += use(co_await gate::wait(how.at(5)), guarded);
  } catch (const std::runtime_error&) {
    const tracked handler("1 handler");
    total += handler.size();
  }
  auto caught = co_await skua::as_outcome(innermost(how, 6, tracked("2 kept")));
  if (caught) total += (*caught).size();
  total += use((co_await skua::shielded(innermost(how, 7, tracked("2 shielded")))).size(), local);
  co_return total;
}

enum class ending { normal, exception, stop };

/// Opens `opened` gates one after the other, then ends the run at the next one in the given way.
void run(int opened, ending how_it_ends) {
  SCOPED_TRACE("gates opened: " + std::to_string(opened));
  tracked::destroyed().clear();
  {
    manual_executor here;
    plan how;
    driven<int> whole(here, outer(how));
    here.run_ready();
    for (int i = 0; i < opened; ++i) {
      ASSERT_EQ(how.waiting_at(), i);
      how.at(i).open(1);
      here.run_ready();
    }
    tracked::destroyed().clear();
    if (how_it_ends == ending::exception) how.at(opened).open(-1);
    if (how_it_ends == ending::stop) whole.request_stop();
    here.run_ready();
    // What survives its stop or exception goes on; let it.
    for (int i = how.waiting_at(); i >= 0; i = how.waiting_at()) {
      how.at(i).open(1);
      here.run_ready();
    }
    EXPECT_TRUE(whole.ended());
    EXPECT_TRUE(how_it_ends != ending::normal || whole.result().has_value());
  }
  EXPECT_TRUE(tracked::alive().empty());
  for (const auto& [where, name] : tracked::alive()) ADD_FAILURE() << "leaked: " << name;
  tracked::alive().clear();
}

TEST(lifetime, nothing_is_left_after_a_normal_end) {
  run(gates, ending::normal);
}

TEST(lifetime, nothing_is_left_after_an_exception_at_any_suspension_point) {
  for (int at = 0; at < gates; ++at) run(at, ending::exception);
}

TEST(lifetime, nothing_is_left_after_a_stop_at_any_suspension_point) {
  for (int at = 0; at < gates; ++at) run(at, ending::stop);
}

TEST(lifetime, a_stop_destroys_the_innermost_frame_first) {
  for (int at = 0; at < 6; ++at) {
    run(at, ending::stop);
    std::vector<char> depths;
    for (const std::string& name : tracked::destroyed())
      if (std::isdigit(name[0]) != 0) depths.push_back(name[0]);
    EXPECT_TRUE(std::ranges::is_sorted(depths, std::greater<>())) << "at gate " << at;
    EXPECT_FALSE(depths.empty());
  }
}

TEST(lifetime, locals_of_a_stopped_frame_end_in_reverse_order_of_their_making) {
  run(3, ending::stop);  // inside the generator
  const std::vector<std::string> expected{"3 yielded", "3 generator local", "2 assigned",
                                          "2 local",   "1 borrowed",        "1 local"};
  std::vector<std::string> seen = tracked::destroyed();
  std::erase_if(seen, [](const std::string& name) { return name == "2 parameter"; });
  EXPECT_EQ(seen, expected);
}

TEST(lifetime, a_task_that_never_started_destroys_what_it_was_given) {
  plan how;
  {
    auto dropped = middle(how, tracked("p"), tracked("b"));
    auto moved = std::move(dropped);
  }
  EXPECT_TRUE(tracked::alive().empty());
}

}  // namespace
