// skua/sync/condition_variable.hpp: waits, without the mutex, for what others change under it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/sync/mutex.hpp"
#include "skua/sync/wait_line.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// For state under a skua::mutex:
///
///   auto held = co_await lock.lock();
///   co_await changed.wait(held, [&] { return !queue.empty(); });
///
/// wait() gives the mutex up and joins the line in one step, so that nothing is missed, and has the
/// mutex again when it is over. Any task or thread may notify, with or without the mutex. Who is
/// notified waits in the line of the mutex, and is resumed only when it has it. There is no other
/// reason to go on than a notification, but the state may have changed again until the mutex is
/// free. Waiting allocates nothing; the form with a predicate has a frame of its own.
///
/// **A task that is stopped while it waits unwinds without the mutex**: its guard is empty then.
/// A notify_one() that had reached it goes to the next in line.
///
/// The condition variable and the mutex outlive every wait.
class [[gnu::visibility("default")]] condition_variable {
public:
  class waiting;

  condition_variable() = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;
  /// When nobody waits any more, even if a notification has not returned yet.
  ~condition_variable();

  /// `co_await c.wait(held)` gives nothing. `held` holds a mutex (otherwise the program ends, and
  /// says so) and stays where it is until the wait is over.
  [[nodiscard]] waiting wait(mutex::guard& held) noexcept;

  /// Until `done()`, which is called with the mutex held, is true. Not at all if it is so at once.
  template <typename Predicate>
  [[nodiscard]] task<> wait(mutex::guard& held, Predicate&& done);

  /// Who has waited longest; nothing if nobody waits.
  void notify_one() noexcept;
  /// All who wait now; they get the mutex one after the other.
  void notify_all() noexcept;

private:
  template <typename Predicate>
  task<> wait_until(mutex::guard& held, Predicate done);
  void move_first(wait_line::granted& to) noexcept;

  wait_line line_;
};

/// See condition_variable::wait(). It waits in two lines, one after the other: ours, until it is
/// notified, and that of the mutex.
class [[gnu::visibility("default")]] condition_variable::waiting final : public mutex::line_wait {
public:
  waiting(condition_variable& of, mutex::guard& held) noexcept : of_(of), held_(held) {}
  ~waiting() {
    if (notified_) [[unlikely]]
      give_back();
  }

  void await_resume() noexcept {
    take();
    notified_ = false;
    held_ = mutex::guard(*mutex_);
  }

private:
  friend class condition_variable;
  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  void give_back() noexcept;

  condition_variable& of_;
  mutex::guard& held_;
  mutex* mutex_ = nullptr;
  bool notified_ = false;  // it is in the line of the mutex, or has that; under our line's lock
  bool passes_on_ = true;  // it was notified alone, and not with all others
};

inline condition_variable::waiting condition_variable::wait(mutex::guard& held) noexcept {
  return {*this, held};
}

template <typename Predicate>
task<> condition_variable::wait_until(mutex::guard& held, Predicate done) {
  while (!done()) co_await wait(held);
}

template <typename Predicate>
task<> condition_variable::wait(mutex::guard& held, Predicate&& done) {
  static_assert(callable_survives<Predicate>,
                "g++ would copy this temporary's captures bitwise: give the predicate a name");
  return wait_until<std::decay_t<Predicate>>(held, std::forward<Predicate>(done));
}

}  // namespace skua::inline SKUA_ABI
