// skua/sync/wait_line.hpp: tasks that wait in line for what a primitive has to give.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/short_lock.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/yield.hpp"

namespace skua::inline SKUA_ABI {

class wait_line;

/// A place in a line, and the leaf that a task waits in: it lives in the frame of that task, and
/// nothing is allocated. Primitives derive their awaiters from it.
///
/// Once `granted`, what was waited for belongs to the task, although it has not been resumed yet. A
/// task may still be unwound then (it lost a race): the destructor of an awaiter that was granted
/// something but never took() it gives it back. One that has a name and is awaited again after that
/// has it at once.
class waiter : public leaf, public list_link<> {
public:
  bool await_ready() const noexcept { return is_granted(); }

protected:
  waiter() = default;
  ~waiter() = default;

  /// It got what it waited for, and nobody took that yet. By its task.
  [[nodiscard]] bool is_granted() const noexcept { return place_ == place::granted; }
  /// At once, without a wait. By its task.
  void grant() noexcept { place_ = place::granted; }
  /// The whole of await_suspend(), which returns what this does. `at_once()` takes what is wanted,
  /// or says that it cannot. To ask counts against the task's turn. If that is used up the task
  /// gives way first, empty-handed: others would run into what it holds, and would all be in line
  /// when it comes back. `prepare()` is called before a wait, which start() may begin much later.
  template <typename AtOnce, typename Prepare = decltype([] {})>
  bool wait_unless(AtOnce at_once, frame_handle self, Prepare prepare = {}) noexcept {
    if (!self.promise().context->spend_from_turn()) [[unlikely]]
      return wait_in_turn(at_once, self, prepare);
    if (at_once()) [[likely]] {
      grant();
      return false;
    }
    wait(self, prepare);
    return true;
  }
  /// Its end, for one who asked by itself and could not have it at once.
  template <typename Prepare>
  [[gnu::noinline]] void wait(frame_handle self, Prepare prepare) noexcept {
    prepare();
    if (arm(self)) start();
  }
  /// The end of a start() that did not join the line after all. Not under the lock.
  void end_at_once() noexcept {
    grant();
    complete();
  }
  /// It is the caller's now. In await_resume().
  void take() noexcept {
    check(is_granted(), "a wait ends when it was granted");
    place_ = place::outside;
  }

private:
  friend class wait_line;
  void start() noexcept override = 0;
  /// Instead of start(), if the task's turn is used up. False if it is to give way first: nothing
  /// was started.
  [[nodiscard]] virtual bool start_behind_others() noexcept { return false; }
  [[nodiscard]] bool gives_back() const noexcept final { return true; }
  // Out of line, so that await_suspend() is short enough to vanish in its coroutine.
  template <typename AtOnce, typename Prepare>
  [[gnu::noinline]] bool wait_in_turn(AtOnce at_once, frame_handle self, Prepare prepare) noexcept {
    if (!self.promise().context->spend_budget()) {
      prepare();
      if (arm(self) && !start_behind_others()) postpone(self);
      return true;
    }
    if (at_once()) {
      grant();
      return false;
    }
    wait(self, prepare);
    return true;
  }

  enum class place : unsigned char { outside, in_line, granted };
  place place_ = place::outside;  // under the line's lock while in_line
};

/// The line, first come, first served, and the lock of the primitive that has it. Whatever the
/// primitive's waiters and holders share is under that lock:
///
///   wait_line::granted ready;                 // outlives the lock
///   {
///     const short_hold hold(line_.lock());
///     ... line_.grant_first(ready) ...
///   }
///   ready.complete();                         // from here on the primitive may be gone
class wait_line {
public:
  /// Waiters that have left the line with what they wanted, and have to be told.
  class granted {
  public:
    /// Not under the lock. Afterwards neither they nor, for all we know, the primitive exist.
    void complete() noexcept {
      while (waiter* const one = all_.pop_front()) one->complete();
    }

  private:
    friend class wait_line;
    intrusive_list<waiter> all_;
  };

  [[nodiscard]] short_lock& lock() noexcept { return lock_; }
  [[nodiscard]] const short_lock& lock() const noexcept { return lock_; }

  // All under the lock.

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// Who has waited longest; null if nobody waits.
  [[nodiscard]] waiter* first() const noexcept { return waiting_.front(); }
  /// In start() of a waiter: behind all others.
  void join(waiter& last) noexcept {
    last.place_ = waiter::place::in_line;
    waiting_.push_back(last);
  }
  /// There is a first one. It goes on.
  void grant_first(granted& to) noexcept { grant(take_first(), to); }
  /// The same for one alone: complete() it when the lock has been given back.
  [[nodiscard]] waiter& grant_first() noexcept {
    waiter& one = *waiting_.pop_front();
    one.place_ = waiter::place::granted;
    return one;
  }
  /// There is a first one. It leaves this line, for another or to be granted what it wants.
  [[nodiscard]] waiter& take_first() noexcept {
    waiter& one = *waiting_.pop_front();
    one.place_ = waiter::place::outside;
    return one;
  }
  /// One that was taken, and is in no line.
  static void grant(waiter& one, granted& to) noexcept {
    one.place_ = waiter::place::granted;
    to.all_.push_back(one);
  }
  void grant_all(granted& to) noexcept {
    while (!empty()) grant_first(to);
  }
  /// In cancel() of a waiter. False if it was granted first, and will be told.
  [[nodiscard]] bool leave(waiter& which) noexcept {
    if (which.place_ != waiter::place::in_line) return false;
    intrusive_list<waiter>::remove(which);
    which.place_ = waiter::place::outside;
    return true;
  }

private:
  short_lock lock_;
  intrusive_list<waiter> waiting_;
};

}  // namespace skua::inline SKUA_ABI
