// tests/coro/foreign_test.cpp: awaitables of other makers work, and the task comes back from them.
#include "skua/coro/foreign.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// Where awaiters below leave the handle they got, for the test to resume.
struct mailbox {
  std::coroutine_handle<> waiting;
  int value = 0;

  void resume_with(int given) {
    value = given;
    std::exchange(waiting, {}).resume();
  }
};

/// await_suspend that returns nothing. Cannot be moved, and counts what is called.
class waits_void {
public:
  explicit waits_void(mailbox& in) noexcept : in_(in) {}
  waits_void(const waits_void&) = delete;
  waits_void& operator=(const waits_void&) = delete;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { in_.waiting = waiting; }
  int await_resume() const noexcept { return in_.value; }

private:
  mailbox& in_;
};

/// await_suspend that returns whether to stay suspended.
class waits_if {
public:
  waits_if(mailbox& in, bool stays) noexcept : in_(in), stays_(stays) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    if (stays_) in_.waiting = waiting;
    return stays_;
  }
  int await_resume() const noexcept { return in_.value; }

private:
  mailbox& in_;
  bool stays_;
};

/// A coroutine for await_suspend to transfer to; resumes what it finds in the mailbox, if told so.
struct transferred_to {
  struct promise_type {
    transferred_to get_return_object() noexcept {
      return transferred_to(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  explicit transferred_to(std::coroutine_handle<> of) noexcept : handle(of) {}
  std::coroutine_handle<> handle;
};
transferred_to runs(bool& ran, mailbox* resumes) {
  ran = true;
  if (resumes != nullptr) resumes->resume_with(4);
  co_return;
}

/// await_suspend that returns whom to resume next.
class transfers {
public:
  transfers(mailbox& in, std::coroutine_handle<> next) noexcept : in_(in), next_(next) {}
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
    in_.waiting = waiting;
    return next_ ? next_ : std::exchange(in_.waiting, {});
  }
  int await_resume() const noexcept { return in_.value; }

private:
  mailbox& in_;
  std::coroutine_handle<> next_;
};

/// Resumes the task on a new thread, before or after await_suspend has returned.
class on_new_thread {
public:
  explicit on_new_thread(std::thread& runs_on, bool at_once = false) noexcept
      : thread_(runs_on), at_once_(at_once) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    std::thread resumes([waiting] { waiting.resume(); });
    if (at_once_) resumes.join();  // the task is resumed, and this awaiter still in use
    thread_ = std::move(resumes);
  }
  bool await_resume() const {
    if (thread_.joinable()) thread_.join();
    return true;
  }

private:
  std::thread& thread_;
  bool at_once_;
};

/// Throws where it is told to.
enum class place { ready, suspend, resume };
class throws {
public:
  explicit throws(place where) noexcept : where_(where) {}
  bool await_ready() const {
    fail_at(place::ready);
    return false;
  }
  bool await_suspend(std::coroutine_handle<>) const {
    fail_at(place::suspend);
    return false;
  }
  void await_resume() const { fail_at(place::resume); }

private:
  void fail_at(place here) const {
    if (here == where_) throw std::runtime_error("foreign");
  }
  place where_;
};

// With operator co_await: a member, a free function, one for lvalues only, one for rvalues only.
class has_member {
public:
  explicit has_member(mailbox& in) noexcept : in_(in) {}
  waits_void operator co_await() const noexcept { return waits_void(in_); }

private:
  mailbox& in_;
};
class has_free {
public:
  explicit has_free(mailbox& where) noexcept : in(where) {}
  mailbox& in;
};
waits_if operator co_await(const has_free& of) noexcept {
  return {of.in, true};
}

class has_both_kinds {
public:
  explicit has_both_kinds(mailbox& in) noexcept : in_(in) {}
  waits_void operator co_await() & noexcept { return waits_void(in_); }
  waits_if operator co_await() && noexcept { return {in_, false}; }

private:
  mailbox& in_;
};

template <typename Awaitable>
task<int> awaits(Awaitable& what) {
  co_return co_await what;
}

TEST(foreign, may_suspend_by_returning_nothing) {
  manual_executor here;
  mailbox in;
  auto body = [&]() -> task<int> { co_return co_await waits_void(in); };
  driven<int> whole(here, body());
  here.run_ready();
  ASSERT_TRUE(in.waiting);
  in.resume_with(3);
  EXPECT_FALSE(whole.ended()) << "resumed outside of its executor";
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(*whole.result(), 3);
}

TEST(foreign, may_suspend_or_not_by_returning_a_bool) {
  manual_executor here;
  mailbox in;
  auto body = [&](bool stays) -> task<int> { co_return co_await waits_if(in, stays); };
  in.value = 1;
  driven<int> goes_on(here, body(false));
  EXPECT_EQ(here.run_ready(), 1U) << "it never parked";
  EXPECT_EQ(*goes_on.result(), 1);
  driven<int> suspends(here, body(true));
  here.run_ready();
  EXPECT_FALSE(suspends.ended());
  in.resume_with(2);
  here.run_ready();
  EXPECT_EQ(*suspends.result(), 2);
}

TEST(foreign, may_transfer_to_another_coroutine) {
  manual_executor here;
  mailbox in;
  bool ran = false;
  auto body = [&](std::coroutine_handle<> next) -> task<int> {
    co_return co_await transfers(in, next);
  };
  driven<int> waits(here, body(runs(ran, nullptr).handle));
  here.run_ready();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(waits.ended());
  in.resume_with(3);
  here.run_ready();
  EXPECT_EQ(*waits.result(), 3);

  driven<int> is_resumed_there(here, body(runs(ran, &in).handle));
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(*is_resumed_there.result(), 4);

  driven<int> resumes_itself(here, body(nullptr));
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(*resumes_itself.result(), 4);
}

TEST(foreign, may_have_a_co_await_operator) {
  mailbox in;
  manual_executor here;
  auto resume_when_run = [&](task<int> of, int with) {
    driven<int> whole(here, std::move(of));
    here.run_ready();
    if (in.waiting) in.resume_with(with);
    here.run_ready();
    return *whole.result();
  };
  auto member = [&]() -> task<int> { co_return co_await has_member(in); };
  auto free = [&]() -> task<int> { co_return co_await has_free(in); };
  auto as_rvalue = [&]() -> task<int> { co_return co_await has_both_kinds(in); };
  has_both_kinds both(in);
  EXPECT_EQ(resume_when_run(member(), 1), 1);
  EXPECT_EQ(resume_when_run(free(), 2), 2);
  EXPECT_EQ(resume_when_run(as_rvalue(), 9), 2) << "the one for rvalues does not wait";
  EXPECT_EQ(resume_when_run(awaits(both), 3), 3);
}

TEST(foreign, may_be_a_variable_that_is_awaited_again) {
  manual_executor here;
  mailbox in;
  waits_void kept(in);  // neither copied nor moved
  auto twice = [&]() -> task<int> {
    const int first = co_await kept;
    const int second = co_await kept;
    co_return first * 10 + second;
  };
  driven<int> whole(here, twice());
  here.run_ready();
  in.resume_with(1);
  here.run_ready();
  in.resume_with(2);
  here.run_ready();
  EXPECT_EQ(*whole.result(), 12);
}

TEST(foreign, never_suspends_if_it_is_ready) {
  class ready {
  public:
    ready() = default;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const { FAIL() << "suspended"; }
    int await_resume() const noexcept { return 5; }
  };
  manual_executor here;
  auto body = []() -> task<int> {
    co_await std::suspend_never();
    co_return co_await ready();
  };
  driven<int> whole(here, body());
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(*whole.result(), 5);
}

TEST(foreign, throws_into_the_task_wherever_it_throws) {
  auto body = [](place where) -> task<std::string> {
    try {
      co_await throws(where);
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  };
  EXPECT_EQ(sync_wait(body(place::ready)), "foreign");
  EXPECT_EQ(sync_wait(body(place::suspend)), "foreign");
  EXPECT_EQ(sync_wait(body(place::resume)), "foreign");
}

TEST(foreign, gives_references_and_values_that_can_only_be_moved) {
  class gives_reference {
  public:
    explicit gives_reference(int& to) noexcept : to_(to) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    int& await_resume() const noexcept { return to_; }

  private:
    int& to_;
  };
  class gives_box {
  public:
    gives_box() = default;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    std::unique_ptr<int> await_resume() const { return std::make_unique<int>(6); }
  };
  int number = 0;
  auto body = [&]() -> task<int> {
    int& same = co_await gives_reference(number);
    EXPECT_EQ(&same, &number);
    const auto box = co_await gives_box();
    co_return *box;
  };
  EXPECT_EQ(sync_wait(body()), 6);
}

TEST(foreign, comes_back_to_the_executor_from_another_thread) {
  manual_executor here;
  const auto own = std::this_thread::get_id();
  std::thread runs_on;
  auto body = [&]() -> task<int> {
    for (int i = 0; i < 20; ++i) {
      (void)co_await on_new_thread(runs_on);
      EXPECT_EQ(std::this_thread::get_id(), own);
    }
    co_return 20;
  };
  driven<int> whole(here, body());
  here.run_until([&] { return whole.ended(); });
  EXPECT_EQ(*whole.result(), 20);
}

TEST(foreign, may_be_resumed_before_its_await_suspend_has_returned) {
  class at_once {
  public:
    at_once() = default;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting.resume();
      value_ = 7;  // still alive
    }
    int await_resume() const noexcept { return value_; }

  private:
    int value_ = 0;
  };
  std::thread runs_on;
  auto body = [&]() -> task<int> {
    const int value = co_await at_once();
    (void)co_await on_new_thread(runs_on, true);
    co_return value;
  };
  EXPECT_EQ(sync_wait(body()), 7);
}

TEST(foreign, keeps_a_stopped_task_until_it_resumes_and_its_value_then) {
  manual_executor here;
  mailbox in;
  gate next;
  int got = 0;
  auto body = [&]() -> task<> {
    got = co_await waits_void(in);
    (void)co_await gate::wait(next);
    got = -1;
  };
  driven<void> whole(here, body());
  here.run_ready();
  whole.request_stop();
  EXPECT_EQ(here.run_ready(), 0U) << "it knows nothing of stopping";
  EXPECT_FALSE(whole.ended());
  in.resume_with(8);
  here.run_ready();
  EXPECT_EQ(got, 8);
  EXPECT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_FALSE(next.waited_for());
}

TEST(foreign, is_not_begun_by_a_task_that_is_to_stop) {
  manual_executor here;
  mailbox in;
  gate first;
  first.answer = skua::cancel_answer::pending;
  auto body = [&]() -> task<int> {
    (void)co_await gate::wait(first);
    co_return co_await waits_void(in);
  };
  driven<int> whole(here, body());
  here.run_ready();
  whole.request_stop();
  first.open();
  here.run_ready();
  EXPECT_FALSE(in.waiting);
  EXPECT_TRUE(whole.result().stopped());
}

TEST(foreign, is_destroyed_once_and_after_its_result_is_taken) {
  int alive = 0;
  class counted {
  public:
    explicit counted(int& alive) : alive_(&alive), owned_(std::make_unique<int>(1)) { ++*alive_; }
    counted(counted&& from) : alive_(from.alive_), owned_(std::move(from.owned_)) { ++*alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive_; }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) { waiting.resume(); }
    int await_resume() const { return *owned_; }

  private:
    int* alive_;
    std::unique_ptr<int> owned_;
  };
  auto body = [&]() -> task<int> {
    const int value = co_await counted(alive);
    EXPECT_EQ(alive, 0);
    co_return value;
  };
  EXPECT_EQ(sync_wait(body()), 1);
  EXPECT_EQ(sync_wait(counted(alive)), 1);
  EXPECT_EQ(alive, 0);
}

TEST(foreign, works_under_as_outcome) {
  auto body = []() -> task<bool> {
    auto how = co_await skua::as_outcome(throws(place::suspend));
    auto none = co_await skua::as_outcome(std::suspend_never());
    co_return how.has_exception() && none.has_value();
  };
  EXPECT_TRUE(sync_wait(body()));
}

}  // namespace
