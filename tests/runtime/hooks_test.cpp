// tests/runtime/hooks_test.cpp: each event is told once, in order, and on the right thread.
#include "skua/runtime/hooks.hpp"

#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua::spawn;
using skua::task;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;

enum class what : unsigned char { started, stops, parks, unparked, spawned, ended };

struct event {
  what kind;
  std::uint64_t whom;  // worker or task
  std::thread::id where;
};

/// Writes everything down.
class recorder final : public skua::hooks {
public:
  void thread_started(std::size_t worker) override { note(what::started, worker); }
  void thread_stops(std::size_t worker) override { note(what::stops, worker); }
  void worker_parks(std::size_t worker) override { note(what::parks, worker); }
  void worker_unparked(std::size_t worker) override { note(what::unparked, worker); }
  void task_spawned(std::uint64_t id) override { note(what::spawned, id); }
  void task_ended(std::uint64_t id) override { note(what::ended, id); }

  [[nodiscard]] std::vector<event> all() const {
    const std::lock_guard hold(mutex_);
    return events_;
  }
  [[nodiscard]] std::vector<event> of(what first, what second, std::uint64_t whom) const {
    std::vector<event> found;
    for (const event& one : all())
      if ((one.kind == first || one.kind == second) && one.whom == whom) found.push_back(one);
    return found;
  }
  [[nodiscard]] std::size_t count(what kind) const {
    return static_cast<std::size_t>(
        std::ranges::count(all(), kind, [](const event& one) { return one.kind; }));
  }

private:
  void note(what kind, std::uint64_t whom) {
    const std::lock_guard hold(mutex_);
    events_.push_back({kind, whom, std::this_thread::get_id()});
  }

  mutable std::mutex mutex_;
  std::vector<event> events_;
};

class hooks : public testing::TestWithParam<kind> {
protected:
  skua::config settings() {
    skua::config with = GetParam().settings();
    with.hooks = &told;
    return with;
  }
  recorder told;
};
INSTANTIATE_TEST_SUITE_P(every, hooks, skua_test::every_kind(), skua_test::name_of_kind);

class hooks_of_threads : public hooks {};
INSTANTIATE_TEST_SUITE_P(multi, hooks_of_threads, skua_test::kinds_with_threads(),
                         skua_test::name_of_kind);

task<> nothing() {
  co_return;
}
task<> churns() {
  for (int i = 0; i < 20; ++i) co_await spawn(nothing());
}

TEST_P(hooks_of_threads, tell_of_each_worker_when_its_thread_begins_and_ends) {
  {
    auto rt = started(settings());
    rt.block_on(churns());
  }
  std::set<std::thread::id> threads;
  for (std::size_t worker = 0; worker < GetParam().workers; ++worker) {
    const auto both = told.of(what::started, what::stops, worker);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].kind, what::started);
    EXPECT_EQ(both[1].kind, what::stops);
    EXPECT_EQ(both[0].where, both[1].where);
    threads.insert(both[0].where);
    std::vector<event> there;
    for (const event& one : told.all())
      if (one.where == both[0].where) there.push_back(one);
    EXPECT_EQ(there.front().kind, what::started) << "the first thing on the thread";
    EXPECT_EQ(there.back().kind, what::stops) << "the last thing on the thread";
  }
  EXPECT_EQ(threads.size(), GetParam().workers);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_P(hooks_of_threads, tell_when_a_worker_sleeps_and_wakes_on_its_thread) {
  {
    auto rt = started(settings());
    for (int i = 0; i < 20; ++i) rt.block_on(churns());
  }
  for (std::size_t worker = 0; worker < GetParam().workers; ++worker) {
    const auto home = told.of(what::started, what::started, worker)[0].where;
    const auto sleeps = told.of(what::parks, what::unparked, worker);
    for (std::size_t i = 0; i < sleeps.size(); ++i) {
      EXPECT_EQ(sleeps[i].kind, i % 2 == 0 ? what::parks : what::unparked);
      EXPECT_EQ(sleeps[i].where, home);
    }
    EXPECT_EQ(sleeps.size() % 2, 0U) << "it was awake in the end";
  }
}

TEST(hooks_of_current_thread, tell_when_it_sleeps_and_wakes) {
  recorder told;
  skua::config with = skua_test::alone.settings();
  with.hooks = &told;
  auto rt = started(with);
  shared_gate door;
  auto waits = [](shared_gate& at) -> task<> { co_await shared_gate::wait(at); };
  std::thread opener([&] {
    while (told.count(what::parks) == 0) std::this_thread::yield();
    door.open();
  });
  rt.block_on(waits(door));
  opener.join();
  EXPECT_GE(told.count(what::parks), 1U);
  EXPECT_EQ(told.count(what::parks), told.count(what::unparked));
  for (const event& one : told.of(what::parks, what::unparked, 0))
    EXPECT_EQ(one.where, std::this_thread::get_id());
}

TEST_P(hooks, tell_of_each_task_once_when_it_was_spawned_and_once_when_it_ended) {
  auto rt = started(settings());
  std::set<std::uint64_t> ids;
  auto body = [](std::set<std::uint64_t>& all) -> task<> {
    for (int i = 0; i < 100; ++i) {
      auto handle = spawn(nothing());
      all.insert(handle.id());
      co_await std::move(handle);
    }
    auto fails = []() -> task<> {
      throw std::runtime_error("on purpose");
      co_return;
    };
    auto thrown = spawn(fails());
    all.insert(thrown.id());
    co_await thrown.wait();
    auto unstarted = skua::spawn_local(nothing());
    all.insert(unstarted.id());
    unstarted.abort();
    co_await unstarted.wait();
    EXPECT_TRUE((co_await thrown.outcome()).has_exception());
  };
  rt.block_on(body(ids));
  for (const std::uint64_t id : ids) {
    const auto both = told.of(what::spawned, what::ended, id);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].kind, what::spawned);
    EXPECT_EQ(both[1].kind, what::ended);
  }
  EXPECT_EQ(told.count(what::spawned), ids.size() + 1) << "the root";
  EXPECT_EQ(told.count(what::ended), ids.size() + 1);
}

TEST_P(hooks, tell_on_the_thread_that_spawns_and_on_the_one_it_ended_on) {
  auto rt = started(settings());
  auto where = []() -> task<std::thread::id> { co_return std::this_thread::get_id(); };
  std::map<std::uint64_t, std::thread::id> spawned;
  std::map<std::uint64_t, std::thread::id> ended;
  auto body = [](decltype(where)& make, decltype(spawned)& from, decltype(ended)& to) -> task<> {
    for (int i = 0; i < 50; ++i) {
      auto handle = spawn(make());
      const std::uint64_t id = handle.id();
      from[id] = std::this_thread::get_id();
      to[id] = co_await std::move(handle);
    }
  };
  rt.block_on(body(where, spawned, ended));
  auto outside = rt.spawn(nothing());
  spawned[outside.id()] = std::this_thread::get_id();
  for (const auto& [id, thread] : spawned)
    EXPECT_EQ(told.of(what::spawned, what::spawned, id)[0].where, thread);
  for (const auto& [id, thread] : ended)
    EXPECT_EQ(told.of(what::ended, what::ended, id)[0].where, thread);
}

/// Whether the frames of a task are still there when its end is told, and who knows of it.
class witness final : public skua::hooks {
public:
  void task_ended(std::uint64_t id) override {
    if (id != watched) return;
    frames_at_end = frames.load();
    joined_at_end = joined.load();
    ++ends;
  }
  std::atomic<std::uint64_t> watched = 0;
  std::atomic<int> frames = 0;
  std::atomic<bool> joined = false;
  std::atomic<int> frames_at_end = -1;
  std::atomic<bool> joined_at_end = true;
  std::atomic<int> ends = 0;
};

class local {
public:
  explicit local(std::atomic<int>& count) : count_(count) { ++count_; }
  local(const local&) = delete;
  local& operator=(const local&) = delete;
  ~local() { --count_; }

private:
  std::atomic<int>& count_;
};

TEST_P(hooks, tell_of_an_end_when_the_frames_are_gone_and_before_whoever_joins_is_told) {
  for (const bool aborts : {false, true}) {
    witness sees;
    skua::config with = GetParam().settings();
    with.hooks = &sees;
    auto rt = started(with);
    auto child = [](witness& by, shared_gate& at) -> task<> {
      const local mine(by.frames);
      co_await shared_gate::wait(at);
    };
    auto body = [](decltype(child)& make, witness& by, bool abort) -> task<> {
      shared_gate door;
      auto handle = spawn(make(by, door));
      by.watched = handle.id();
      while (door.waiters() == 0) co_await skua::yield();
      if (abort)
        handle.abort();
      else
        door.open();
      co_await handle.wait();
      by.joined = true;
    };
    rt.block_on(body(child, sees, aborts));
    EXPECT_EQ(sees.ends, 1);
    EXPECT_EQ(sees.frames_at_end, 0);
    EXPECT_FALSE(sees.joined_at_end);
  }
}

TEST_P(hooks, say_nothing_of_a_task_that_was_refused) {
  auto rt = started(settings());
  rt.shutdown();
  rt.spawn(nothing()).detach();
  EXPECT_EQ(told.count(what::spawned), 0U);
  EXPECT_EQ(told.count(what::ended), 0U);
}

class thrower final : public skua::hooks {
public:
  void thread_started(std::size_t) override { fail(); }
  void thread_stops(std::size_t) override { fail(); }
  void worker_parks(std::size_t) override { fail(); }
  void worker_unparked(std::size_t) override { fail(); }
  void task_spawned(std::uint64_t) override { fail(); }
  void task_ended(std::uint64_t) override { fail(); }
  std::atomic<int> thrown = 0;

private:
  void fail() {
    ++thrown;
    throw std::runtime_error("on purpose");
  }
};

void count_errors(void* state, const skua::log_record& record) {
  if (record.level == skua::log_level::error) ++*static_cast<std::atomic<int>*>(state);
}

TEST_P(hooks, that_throw_are_logged_and_ignored) {
  thrower throws;
  std::atomic<int> errors = 0;
  {
    skua::config with = GetParam().settings();
    with.hooks = &throws;
    with.log = skua::logger(count_errors, &errors);
    auto rt = started(with);
    rt.block_on(churns());
  }
  EXPECT_GE(throws.thrown, 42) << "at least the tasks";
  EXPECT_EQ(errors, throws.thrown);
}

TEST(hooks_of_the_builder, are_called) {
  recorder told;
  {
    auto rt = skua::runtime::builder().workers(1).hooks(told).build();
    rt.value().block_on(nothing());
  }
  EXPECT_EQ(told.count(what::started), 1U);
  EXPECT_EQ(told.count(what::spawned), 1U);
}

}  // namespace
