// skua/sync/group_state.hpp: what the tasks of a group share, whatever they give.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/child_set.hpp"
#include "skua/sync/wait_line.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What became of one task: made when it is spawned, kept in the group from its end until somebody
/// takes it.
class group_result : public list_link<> {
public:
  group_result() = default;
  group_result(const group_result&) = delete;
  group_result& operator=(const group_result&) = delete;
  virtual ~group_result() = default;

private:
  friend class group_state;
  bool counted_ = false;
};

/// Private to task_group. Freed by the last of the group and its tasks.
class [[gnu::visibility("default")]] group_state {
public:
  class member;
  class next_wait;
  class entry_wait;

  /// The caller, the group, has a reference.
  explicit group_state(std::size_t limit) noexcept;
  group_state(const group_state&) = delete;
  group_state& operator=(const group_state&) = delete;

  void release() noexcept;
  /// Before a task is spawned: it counts from now on.
  void count_in(group_result& of) noexcept;
  /// It could not be spawned.
  void count_out(group_result& of) noexcept;
  void stop() noexcept { tasks_.stop(); }
  /// Those that run, and those whose results nobody took.
  [[nodiscard]] std::size_t size() noexcept;
  /// At once, or not: null if none has ended that is not promised to somebody.
  [[nodiscard]] group_result* try_take() noexcept;

private:
  ~group_state();

  void leave(member& one) noexcept;
  void let_next_in(wait_line::granted& ready) noexcept;
  void settle(wait_line::granted& ready) noexcept;
  [[nodiscard]] std::size_t size_under_lock() const noexcept { return tasks_.running() + ended_; }
  [[nodiscard]] group_result* take_oldest() noexcept;

  const std::size_t limit_;
  child_set tasks_;
  // All below under the lock of tasks_.
  std::uint32_t references_ = 1;
  std::size_t inside_ = 0;    // of the limit
  std::size_t ended_ = 0;     // results in the list
  std::size_t promised_ = 0;  // of those, to waiters that have not come for them yet
  intrusive_list<group_result> results_;
  wait_line joiners_;
  wait_line entry_;
};

/// One task of the group: part of its outermost frame.
class [[gnu::visibility("default")]] group_state::member : public child_set::member {
public:
  /// Owns the result until the end, which gives it to the group if the task counted.
  member(group_state& of, group_result& result) noexcept : of_(&of), result_(&result) {}
  /// Before it has begun.
  member(member&& from) noexcept
      : of_(std::exchange(from.of_, nullptr)), result_(std::exchange(from.result_, nullptr)) {}
  ~member();

  /// By the task, first of all. False: the group is being stopped, and so is this now.
  [[nodiscard]] bool begins(context& self) noexcept { return of_->tasks_.begin(*this, self); }
  /// `co_await m.enter()`: when there are fewer inside than the limit.
  [[nodiscard]] entry_wait enter() noexcept;

private:
  friend class group_state;
  friend class entry_wait;
  group_state* of_;
  group_result* result_;
  bool inside_ = false;
};

class [[gnu::visibility("default")]] group_state::entry_wait final : public waiter {
public:
  entry_wait(group_state& of, member& whom) noexcept : of_(of), whom_(whom) {}
  ~entry_wait();

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (try_enter()) return !take_from_budget(to_frame(self));
    if (arm(to_frame(self))) start();
    return true;
  }
  void await_resume() noexcept {
    take();
    whom_.inside_ = true;
  }

private:
  [[nodiscard]] bool try_enter() noexcept;
  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  group_state& of_;
  member& whom_;
};

/// Gives the oldest result that is left, when there is one; null when no task is left either.
class [[gnu::visibility("default")]] group_state::next_wait : public waiter {
public:
  explicit next_wait(group_state& of) noexcept : of_(of) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (try_next()) return !take_from_budget(to_frame(self));
    if (arm(to_frame(self))) start();
    return true;
  }

protected:
  ~next_wait();
  /// In await_resume().
  [[nodiscard]] group_result* take_result() noexcept;

private:
  friend class group_state;
  [[nodiscard]] bool try_next() noexcept;
  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  group_state& of_;
  bool promised_ = false;  // a result, not just an answer
};

}  // namespace skua::inline SKUA_ABI
