// tests/runtime/registry_test.cpp: runtime::tasks() shows every live task, and what it is at.
#include "skua/runtime/named.hpp"
#include "skua/runtime/task_info.hpp"
#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using skua::named;
using skua::spawn;
using skua::task;
using skua::task_info;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;
using state = skua::task_info::state;

class registry : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, registry, skua_test::every_kind(), skua_test::name_of_kind);

std::vector<task_info> tasks_here() {
  return skua::runtime_handle::current().tasks();
}
/// The task with this id; one without an id if there is none.
task_info info_of(std::uint64_t id) {
  for (const task_info& one : tasks_here())
    if (one.id == id) return one;
  return {};
}
unsigned next_line(std::source_location where = std::source_location::current()) {
  return where.line() + 1;
}

task<> waits(shared_gate& at) {
  co_await shared_gate::wait(at);
}
task<> nothing() {
  co_return;
}

TEST_P(registry, shows_nobody_where_nobody_lives) {
  auto rt = started(GetParam().settings());
  EXPECT_TRUE(rt.tasks().empty());
  rt.block_on(nothing());
  EXPECT_TRUE(rt.tasks().empty());
  rt.shutdown();
  EXPECT_TRUE(rt.tasks().empty());
}

TEST_P(registry, shows_only_tasks_of_its_own_runtime) {
  shared_gate closed;  // outlives the task, which may not even have begun in the end
  auto rt = started(GetParam().settings());
  auto other = started(skua_test::two_workers.settings());
  auto handle = other.spawn(waits(closed));
  EXPECT_TRUE(rt.tasks().empty());
  EXPECT_EQ(other.tasks().size(), 1U);
  closed.open();
}

TEST_P(registry, shows_every_task_once_in_the_order_of_their_ids) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    shared_gate closed;
    std::vector<skua::join_handle<void>> all;
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 300; ++i) {
      all.push_back(spawn(waits(closed)));
      ids.insert(all.back().id());
    }
    EXPECT_EQ(ids.size(), 300U);
    std::vector<std::uint64_t> seen;
    for (const task_info& one : tasks_here()) seen.push_back(one.id);
    EXPECT_EQ(seen.size(), 301U) << "and this one";
    EXPECT_TRUE(std::ranges::is_sorted(seen));
    EXPECT_TRUE(std::ranges::includes(seen, ids));
    closed.open();
    for (auto& one : all) co_await std::move(one);
  };
  rt.block_on(body());
}

TEST_P(registry, gives_no_id_twice_whoever_spawns) {
  auto rt = started(GetParam().settings());
  std::mutex mutex;
  std::multiset<std::uint64_t> ids;
  const auto note = [&](std::uint64_t id) {
    const std::lock_guard hold(mutex);
    ids.insert(id);
  };
  auto spawns = [](decltype(note)& tell) -> task<> {
    for (int i = 0; i < 100; ++i) {
      auto child = spawn(nothing());
      tell(child.id());
      co_await skua::yield();
    }
  };
  auto body = [](decltype(spawns)& make, decltype(note)& tell) -> task<> {
    for (int i = 0; i < 20; ++i) tell(spawn(make(tell)).id());
    const auto here = skua::runtime_handle::current();
    auto call = [](decltype(note)& say) {
      for (int i = 0; i < 100; ++i) say(spawn(nothing()).id());
    };
    co_await skua::spawn_blocking(call, std::ref(tell));
  };
  std::thread outside([&] {
    for (int i = 0; i < 100; ++i) note(rt.spawn(nothing()).id());
  });
  rt.block_on(body(spawns, note));
  outside.join();
  EXPECT_EQ(ids.size(), 20U * 101 + 200);
  EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()).size(), ids.size());
}

TEST_P(registry, shows_names_and_cuts_long_ones) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    shared_gate closed;
    std::string text = "acceptor";
    auto short_one = spawn(named(text, waits(closed)));
    text = "overwritten";  // it has a copy
    auto nameless = spawn(waits(closed));
    auto exact = spawn(named("12345678901234567890123", waits(closed)));
    auto longer = skua::spawn_local(named("123456789012345678901234", waits(closed)));
    auto callable = [&closed]() -> task<> { co_await shared_gate::wait(closed); };
    auto called = skua::spawn_background(named("called", callable));
    EXPECT_EQ(info_of(short_one.id()).name(), "acceptor");
    EXPECT_EQ(info_of(nameless.id()).name(), "");
    EXPECT_EQ(info_of(exact.id()).name(), "12345678901234567890123");
    EXPECT_EQ(info_of(longer.id()).name(), "12345678901234567890123");
    EXPECT_EQ(info_of(called.id()).name(), "called");
    closed.open();
    co_await std::move(short_one);
    co_await std::move(nameless);
    co_await std::move(exact);
    co_await std::move(longer);
    co_await std::move(called);
  };
  rt.block_on(named("root", body()));
}

/// Where each of them was spawned.
class places {
public:
  void expect(std::uint64_t id, unsigned line) { lines_[id] = line; }
  void compare(const std::vector<task_info>& shown) const {
    std::size_t found = 0;
    for (const task_info& one : shown) {
      if (!lines_.contains(one.id)) continue;
      ++found;
      EXPECT_EQ(one.where.line(), lines_.at(one.id));
      EXPECT_TRUE(std::string_view(one.where.file_name()).ends_with("registry_test.cpp"));
    }
    EXPECT_EQ(found, lines_.size());
  }

private:
  std::map<std::uint64_t, unsigned> lines_;
};

task<> waits_too(shared_gate& at, int /*b*/, int /*c*/ = 0, int /*d*/ = 0, int /*e*/ = 0,
                 int /*f*/ = 0) {
  co_await shared_gate::wait(at);
}

TEST_P(registry, shows_where_a_task_was_spawned) {
  auto rt = started(GetParam().settings());
  shared_gate closed;
  auto body = [](shared_gate& at) -> task<> {
    places all;
    unsigned line = next_line();
    auto one = spawn(waits(at));
    all.expect(one.id(), line);
    line = next_line();
    auto two = skua::spawn_background(waits(at));
    all.expect(two.id(), line);
    line = next_line();
    auto three = skua::spawn_local(waits(at));
    all.expect(three.id(), line);
    const auto here = skua::runtime_handle::current();
    line = next_line();
    auto four = here.spawn(waits(at));
    all.expect(four.id(), line);
    line = next_line();
    auto five = skua::try_spawn(waits(at));
    all.expect(five->id(), line);
    line = next_line();
    auto six = here.try_spawn(waits(at));
    all.expect(six->id(), line);
    line = next_line();
    auto seven = spawn(named("seven", waits(at)));
    all.expect(seven.id(), line);
    all.compare(tasks_here());
    at.open();
    co_return;
  };
  rt.block_on(body(closed));
}

TEST_P(registry, shows_where_a_callable_was_spawned) {
  auto rt = started(GetParam().settings());
  shared_gate closed;
  auto body = [](shared_gate& at) -> task<> {
    places all;
    const auto gate = std::ref(at);
    auto zero = [&at]() -> task<> { co_await shared_gate::wait(at); };
    const auto f = [](shared_gate& g, auto... rest) { return waits_too(g, rest..., 0); };
    unsigned line = next_line();
    auto none = spawn(zero);
    all.expect(none.id(), line);
    line = next_line();
    auto one = spawn(f, gate);
    all.expect(one.id(), line);
    line = next_line();
    auto two = spawn(f, gate, 1);
    all.expect(two.id(), line);
    line = next_line();
    auto three = spawn(f, gate, 1, 2);
    all.expect(three.id(), line);
    line = next_line();
    auto four = spawn(f, gate, 1, 2, 3);
    all.expect(four.id(), line);
    line = next_line();
    auto five = spawn(f, gate, 1, 2, 3, 4);
    all.expect(five.id(), line);
    all.compare(tasks_here());
    at.open();
    co_return;
  };
  rt.block_on(body(closed));
}

TEST_P(registry, shows_where_block_on_was_called) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<unsigned> {
    const auto all = tasks_here();
    EXPECT_EQ(all.size(), 1U);
    EXPECT_TRUE(std::string_view(all[0].where.file_name()).ends_with("registry_test.cpp"));
    co_return all[0].where.line();
  };
  const unsigned line = next_line();
  EXPECT_EQ(rt.block_on(body()), line);
}

TEST_P(registry, shows_a_task_that_has_ended_while_its_handle_is_held) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto handle = spawn(named("gone", nothing()));
    const std::uint64_t id = handle.id();
    co_await handle.wait();
    EXPECT_EQ(info_of(id).now, state::ended);
    EXPECT_EQ(info_of(id).name(), "gone");
    EXPECT_EQ(info_of(id).chain_length, 0U);
    handle.detach();
    EXPECT_EQ(info_of(id).id, 0U);
  };
  rt.block_on(body());
}

TEST_P(registry, shows_who_runs_or_is_queued_as_active) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto busy = []() -> task<> {
      for (;;) co_await skua::yield();
    };
    auto child = spawn(busy());
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(info_of(child.id()).now, state::active);
      co_await skua::yield();
    }
    EXPECT_FALSE(info_of(child.id()).stop_requested);
    child.abort();
    co_await child.wait();
    const auto all = tasks_here();
    EXPECT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].id == child.id() ? all[1].now : all[0].now, state::active) << "this one";
  };
  rt.block_on(body());
}

TEST_P(registry, shows_who_was_asked_to_stop) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    shared_gate closed;
    std::atomic<bool> under_way = false;
    std::atomic<bool> go_on = false;
    auto call = [](std::atomic<bool>& begun, std::atomic<bool>& go) {
      begun = true;
      go.wait(false);
    };
    auto child = spawn(skua::spawn_blocking(call, std::ref(under_way), std::ref(go_on)));
    while (!under_way) co_await skua::yield();
    EXPECT_FALSE(info_of(child.id()).stop_requested);
    child.abort();
    EXPECT_TRUE(info_of(child.id()).stop_requested) << "a call that has begun goes on";
    go_on = true;
    go_on.notify_all();
    co_await child.wait();
  };
  rt.block_on(body());
}

}  // namespace
