// tests/runtime/spawn_blocking_test.cpp: calls that block run on a pool, bounded and cancellable.
#include "skua/runtime/spawn_blocking.hpp"

#include "skua/skua.hpp"
#include "support/event.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"
#include "support/thread_limit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using skua::spawn;
using skua::spawn_blocking;
using skua::task;
using skua_test::event;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;

class blocking_calls : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, blocking_calls, skua_test::every_kind(), skua_test::name_of_kind);

/// A call that says when it has begun, and goes on when it is told to.
struct slow_call {
  event begun;
  event goes_on;
  std::atomic<bool> ended = false;
  void make() {
    begun.set();
    goes_on.wait();
    ended = true;
  }
};
void make(slow_call& which) {
  which.make();
}

task<> nothing() {
  co_return;
}
/// What adapters take: a task.
template <typename Callable, typename... Args>
auto calls(Callable fn, Args... args) -> task<std::invoke_result_t<Callable, Args...>> {
  co_return co_await spawn_blocking(fn, std::move(args)...);
}
task<> until_set(const event& which) {
  while (!which.happened()) co_await skua::yield();
}

TEST_P(blocking_calls, give_their_value_or_exception) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto sum = [](int a, int b) { return a + b; };
    EXPECT_EQ(co_await spawn_blocking(sum, 1, 2), 3);
    int set = 0;
    auto sets = [](int& to) { to = 7; };
    co_await spawn_blocking(sets, std::ref(set));
    EXPECT_EQ(set, 7);
    auto fails = [] { throw std::runtime_error("on purpose"); };
    EXPECT_THROW(co_await spawn_blocking(fails), std::runtime_error);
    auto fails_oddly = []() -> int { throw 5; };
    EXPECT_THROW((void)co_await spawn_blocking(fails_oddly), int);
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, move_what_can_only_be_moved) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto doubles = [](std::unique_ptr<int> from) { return std::make_unique<int>(2 * *from); };
    const auto got = co_await spawn_blocking(doubles, std::make_unique<int>(21));
    EXPECT_EQ(*got, 42);
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, give_a_copy_of_what_they_refer_to) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    std::string text = "text";
    auto refers = [](std::string& to) -> std::string& { return to; };
    auto copy = co_await spawn_blocking(refers, std::ref(text));
    copy += " changed";
    EXPECT_EQ(text, "text");
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, run_beside_the_task_that_spawns_them_on_a_thread_of_the_pool) {
  skua::config with = GetParam().settings();
  with.name = "here";
  auto rt = started(with);
  auto body = []() -> task<> {
    slow_call call;
    auto handle = spawn(spawn_blocking(make, std::ref(call)));
    co_await until_set(call.begun);
    EXPECT_FALSE(handle.done());
    call.goes_on.set();
    co_await std::move(handle);
    auto name = [] {
      char text[16] = {};
      pthread_getname_np(pthread_self(), text, sizeof text);
      return std::string(text);
    };
    EXPECT_THAT(co_await spawn_blocking(name), testing::StartsWith("here-b-"));
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, are_not_made_if_they_are_dropped) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    bool made = false;
    auto call = [](bool& flag) { flag = true; };
    static_cast<void>(spawn_blocking(call, std::ref(made)));
    co_await spawn_blocking([] {});
    EXPECT_FALSE(made);
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, that_are_cancelled_before_they_begin_are_never_made) {
  skua::config with = GetParam().settings();
  with.blocking_threads = 1;
  auto rt = started(with);
  auto body = []() -> task<> {
    slow_call first;
    auto holds_the_thread = spawn(spawn_blocking(make, std::ref(first)));
    co_await until_set(first.begun);
    bool made = false;
    auto argument = std::make_shared<int>(1);
    auto call = [](bool& flag, const std::shared_ptr<int>&) { flag = true; };
    auto second = spawn(spawn_blocking(call, std::ref(made), argument));
    const auto here = skua::runtime_handle::current();
    while (here.metrics().blocking_depth == 0) co_await skua::yield();
    EXPECT_TRUE(second.abort());
    EXPECT_TRUE((co_await second.outcome()).stopped());
    EXPECT_EQ(argument.use_count(), 1);
    EXPECT_FALSE(first.ended) << "it did not wait for the one before it";
    first.goes_on.set();
    co_await std::move(holds_the_thread);
    co_await spawn_blocking([] {});
    EXPECT_FALSE(made);
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, that_are_cancelled_after_they_began_are_waited_for) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto borrows = [](event& begun, event& goes_on, bool& ended) -> task<> {
      bool local = false;  // the call has a reference to it
      auto call = [](event& a, event& b, bool& c) {
        a.set();
        b.wait();
        c = true;
      };
      co_await spawn_blocking(call, std::ref(begun), std::ref(goes_on), std::ref(local));
      ended = local;
      co_await skua::yield();
      ADD_FAILURE() << "it was asked to stop";
    };
    event begun;
    event goes_on;
    bool ended = false;
    auto handle = spawn(borrows(begun, goes_on, ended));
    co_await until_set(begun);
    EXPECT_TRUE(handle.abort());
    for (int i = 0; i < 100; ++i) co_await skua::yield();
    EXPECT_FALSE(handle.done());
    goes_on.set();
    EXPECT_TRUE((co_await handle.outcome()).stopped());
  };
  rt.block_on(body());
}

/// How many are there at once, and how many there were at most.
class crowd {
public:
  void come() {
    const int now = ++here_;
    for (int most = most_; most < now && !most_.compare_exchange_weak(most, now);) {
    }
    most_.notify_all();
  }
  void go() { --here_; }
  /// Blocks until there were so many at once.
  void meet(int all) {
    for (int seen = most_; seen < all; seen = most_) most_.wait(seen);
  }
  [[nodiscard]] int most() const { return most_; }

private:
  std::atomic<int> here_ = 0;
  std::atomic<int> most_ = 0;
};

TEST_P(blocking_calls, have_so_many_threads_and_no_more) {
  constexpr int threads = 64;
  skua::config with = GetParam().settings();
  with.blocking_threads = threads;
  auto rt = started(with);
  crowd all;
  std::atomic<int> made = 0;
  auto body = [](crowd& meets, std::atomic<int>& count) -> task<> {
    auto call = [](crowd& with_all, std::atomic<int>& calls) {
      with_all.come();
      with_all.meet(threads);
      ++calls;
      with_all.go();
    };
    for (int i = 0; i < 600; ++i) spawn(spawn_blocking(call, std::ref(meets), std::ref(count)));
    co_return;
  };
  rt.block_on(body(all, made));
  EXPECT_EQ(all.most(), threads);
  EXPECT_EQ(made, 600);
  EXPECT_EQ(rt.metrics().blocking_threads, static_cast<std::size_t>(threads));
}

TEST_P(blocking_calls, end_their_threads_when_none_has_come_for_a_while) {
  for (const std::int64_t keep_alive : {0, 1'000'000}) {
    skua::config with = GetParam().settings();
    with.blocking_keep_alive = keep_alive;
    auto rt = started(with);
    for (int i = 0; i < 3; ++i) {
      auto body = []() -> task<> {
        for (int n = 0; n < 20; ++n) spawn(spawn_blocking([] {}));
        co_return;
      };
      rt.block_on(body());
      while (rt.metrics().blocking_threads > 0) std::this_thread::yield();
      EXPECT_EQ(rt.metrics().blocking_idle, 0U);
    }
  }
}

TEST_P(blocking_calls, keep_their_threads_otherwise) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    const auto here = skua::runtime_handle::current();
    for (int i = 0; i < 100; ++i) {
      co_await spawn_blocking([] {});
      while (here.metrics().blocking_idle == 0) co_await skua::yield();
    }
  };
  rt.block_on(body());
  EXPECT_EQ(rt.metrics().blocking_threads, 1U);
}

TEST_P(blocking_calls, spawn_tasks_that_belong_to_the_same_block_on) {
  auto rt = started(GetParam().settings());
  shared_gate door;
  std::atomic<bool> ended = false;
  auto child = [](shared_gate& at, std::atomic<bool>& flag) -> task<> {
    co_await shared_gate::wait(at);
    flag = true;
  };
  auto body = [](decltype(child)& make_child, shared_gate& at, std::atomic<bool>& flag) -> task<> {
    auto call = [](decltype(child)& make_it, shared_gate& a, std::atomic<bool>& f) {
      spawn(make_it(a, f));
    };
    co_await spawn_blocking(call, std::ref(make_child), std::ref(at), std::ref(flag));
  };
  std::thread opener([&] {
    door.await_waiters(1);
    door.open();
  });
  rt.block_on(body(child, door, ended));
  EXPECT_TRUE(ended);
  opener.join();
}

/// Counts the threads that it was noted in and that live still.
class living_threads {
public:
  living_threads() { ::pthread_key_create(&key_, forget); }
  living_threads(const living_threads&) = delete;
  living_threads& operator=(const living_threads&) = delete;
  ~living_threads() { ::pthread_key_delete(key_); }

  void note() {
    if (::pthread_getspecific(key_) != nullptr) return;
    ++count_;
    ::pthread_setspecific(key_, this);
  }
  [[nodiscard]] int count() const { return count_; }

private:
  // Near the end of a thread. Slowly, so that whoever does not wait for it comes too early.
  static void forget(void* self) {
    for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
    --static_cast<living_threads*>(self)->count_;
  }

  pthread_key_t key_ = 0;
  std::atomic<int> count_ = 0;
};

TEST_P(blocking_calls, leave_no_thread_behind_when_the_runtime_has_ended) {
  living_threads threads;
  for (int round = 0; round < 20; ++round) {
    started(GetParam().settings()).block_on([&]() -> task<> {
      auto call = [](living_threads& noted) { noted.note(); };
      auto first = spawn(spawn_blocking(call, std::ref(threads)));
      co_await spawn_blocking(call, std::ref(threads));
      co_await std::move(first);
      EXPECT_GT(threads.count(), 0);
    });
    EXPECT_EQ(threads.count(), 0);
  }
}

TEST(blocking_calls_of_two_scopes, spawn_tasks_that_belong_to_their_own) {
  auto rt = started(skua_test::two_workers.settings());
  shared_gate closed;
  event spawned;
  auto child = [](shared_gate& at) -> task<> { co_await shared_gate::wait(at); };
  auto body = [](decltype(child)& make_child, shared_gate& at, event& done) -> task<> {
    auto call = [](decltype(child)& make_it, shared_gate& a, event& d) {
      spawn(make_it(a));
      d.set();
    };
    co_await spawn_blocking(call, std::ref(make_child), std::ref(at), std::ref(done));
  };
  std::atomic<bool> first_ended = false;
  std::thread first([&] {
    rt.block_on(body(child, closed, spawned));
    first_ended = true;
  });
  spawned.wait();
  auto other = []() -> task<> {
    auto call = [] { spawn(nothing()); };
    co_await spawn_blocking(call);
  };
  rt.block_on(other());  // does not wait for the child of the first
  EXPECT_FALSE(first_ended);
  closed.open();
  first.join();
}

TEST(blocking_calls_of_threads, may_block_on_their_own_runtime) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = [](skua::runtime& again) -> task<> {
    auto call = [](skua::runtime& on) {
      auto inner = []() -> task<int> { co_return co_await spawn_blocking([] { return 5; }); };
      return on.block_on(inner());
    };
    EXPECT_EQ(co_await spawn_blocking(call, std::ref(again)), 5);
  };
  rt.block_on(body(rt));
}

TEST_P(blocking_calls, may_drive_another_runtime_and_are_still_part_of_their_own) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto call = [] {
      auto other = started(skua_test::alone.settings());
      other.block_on(nothing());
      const auto before = skua::runtime_handle::current().metrics().spawned;  // this throws
      spawn(nothing());
      return skua::runtime_handle::current().metrics().spawned - before;
    };
    EXPECT_EQ(co_await spawn_blocking(call), 1U);
  };
  EXPECT_NO_THROW(rt.block_on(body()));
}

TEST_P(blocking_calls, throw_if_no_thread_can_be_had) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    bool made = false;
    auto call = [](bool& flag) { flag = true; };
    {
      const skua_test::thread_limit no_more(1);
      auto failed = co_await skua::as_outcome(calls(call, std::ref(made)));
      EXPECT_TRUE(no_more.reached());
      EXPECT_TRUE(failed.has_exception());
      try {
        std::move(failed).value();
      } catch (const std::system_error& thrown) {
        EXPECT_EQ(thrown.code(), std::errc::resource_unavailable_try_again);
      }
    }
    EXPECT_FALSE(made);
    co_await spawn_blocking(call, std::ref(made));
    EXPECT_TRUE(made);
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, wait_for_a_thread_if_no_other_can_be_had) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    slow_call first;
    auto holds_the_thread = spawn(spawn_blocking(make, std::ref(first)));
    co_await until_set(first.begun);
    const auto here = skua::runtime_handle::current();
    const skua_test::thread_limit no_more(1);
    auto second = spawn(spawn_blocking([] {}));
    while (here.metrics().blocking_depth == 0) co_await skua::yield();
    EXPECT_TRUE(no_more.reached());
    first.goes_on.set();
    co_await std::move(second);
    co_await std::move(holds_the_thread);
  };
  rt.block_on(body());
  EXPECT_EQ(rt.metrics().blocking_threads, 1U);
}

TEST(blocking_calls_without_runtime, are_made_on_the_thread_that_waits) {
  auto where = [] { return std::this_thread::get_id(); };
  EXPECT_EQ(skua::sync_wait(calls(where)), std::this_thread::get_id());
  auto fails = [] { throw std::runtime_error("on purpose"); };
  EXPECT_THROW(skua::sync_wait(calls(fails)), std::runtime_error);
}

TEST_P(blocking_calls, may_sync_wait) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto call = [] { return skua::sync_wait(calls([] { return 5; })); };
    EXPECT_EQ(co_await spawn_blocking(call), 5);
  };
  rt.block_on(body());
}

TEST_P(blocking_calls, are_waited_for_by_shutdown) {
  slow_call call;
  std::thread opener;
  {
    auto rt = started(GetParam().settings());
    auto body = [](slow_call& which) -> task<> {
      skua::spawn_background(spawn_blocking(make, std::ref(which))).detach();
      co_await until_set(which.begun);
    };
    rt.block_on(body(call));
    opener = std::thread([&] { call.goes_on.set(); });
  }
  EXPECT_TRUE(call.ended);
  opener.join();
}

}  // namespace
