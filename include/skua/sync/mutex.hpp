// skua/sync/mutex.hpp: one task at a time, also across suspensions.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/check.hpp"
#include "skua/base/work.hpp"
#include "skua/coro/context_base.hpp"
#include "skua/sync/mutex_word.hpp"
#include "skua/sync/wait_line.hpp"

#include <coroutine>
#include <new>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `auto held = co_await m.lock();` until `held` is gone. Unlike a std::mutex it may be held across
/// a suspension, by a task that moves from thread to thread, and who waits blocks no thread.
///
/// First come, first served, but for one thing: when it is unlocked whoever has waited longest is
/// told to come, and until its turn has come tasks that run may take the mutex, one or many times.
/// If it is taken at that moment the next unlock hands it over, and nobody can come in between. So
/// nobody waits for ever, and tasks that want it often need not change places each time. Not
/// recursive: a task that locks twice waits for itself. Any task or thread may lock, and any may
/// unlock. Waiting allocates nothing; with nobody in the way lock and unlock are one exchange each.
///
/// A lock counts against the task's turn. When that is used up the task gives way before it asks,
/// not with the mutex in its hand; if others of its runtime wait already, it does so in line behind
/// them.
///
/// Stopping a task that waits gives up its place. If the mutex was handed to it at that moment it
/// is passed on.
class [[gnu::visibility("default")]] mutex {
public:
  class guard;
  class lock_wait;

  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { check(word_.is_free(), "a mutex is destroyed while nobody holds it"); }

  /// `co_await m.lock()` gives a guard.
  [[nodiscard]] lock_wait lock() noexcept;

  /// At once, or not: `if (auto held = m.try_lock()) ...`
  [[nodiscard]] guard try_lock() noexcept;

  /// What a guard does. For those who release() theirs. Not held: ends the program, and says so.
  void unlock() noexcept {
    if (!word_.try_unlock()) unlock_for_next();
  }

private:
  friend class condition_variable;
  class line_wait;
  class lock_place;
  /// One who is in line.
  enum class call : unsigned char {
    waits,
    told,      // and in a queue
    gives_up,  // likewise, but its task is to stop
    insists,
  };

  /// True if it was free and is `who`'s now; otherwise that is in line.
  [[nodiscard]] bool lock_or_join(line_wait& who, call how) noexcept;
  /// False if nobody is in line, or the first there runs elsewhere: then neither is it.
  [[nodiscard]] bool join_others(line_wait& who) noexcept;
  /// False if it was given the mutex before, or is on its way: it will hear of it.
  [[nodiscard]] bool leave(line_wait& who) noexcept;
  void unlock_for_next() noexcept;
  void grant_first(wait_line::granted& to) noexcept;
  [[nodiscard]] line_wait* open_or_grant(wait_line::granted& to) noexcept;
  void came(line_wait& who) noexcept;

  mutex_word<std_atomics> word_;
  wait_line line_;
};

/// Holds a mutex until it is destroyed or unlocked. Moves; may be empty.
class [[nodiscard]] mutex::guard {
public:
  guard() = default;
  /// `from` is empty then.
  guard(guard&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
  /// Unlocks what it holds. `from` is empty then.
  guard& operator=(guard&& from) noexcept {
    if (this != &from) {
      unlock();
      of_ = std::exchange(from.of_, nullptr);
    }
    return *this;
  }
  ~guard() { unlock(); }

  /// It holds one.
  explicit operator bool() const noexcept { return of_ != nullptr; }

  /// Before its end. Nothing if it is empty.
  void unlock() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->unlock();
  }

  /// The mutex stays locked, and unlocking it is the caller's business. Null if empty.
  [[nodiscard]] mutex* release() noexcept { return std::exchange(of_, nullptr); }

private:
  friend class mutex;
  friend class lock_wait;
  friend class condition_variable;
  explicit guard(mutex& of) noexcept : of_(&of) {}

  mutex* of_ = nullptr;
};

/// A place in the line of a mutex. The first in it is told when the mutex is free, and then takes
/// it, if it still is; one that insists is handed it.
class [[gnu::visibility("default")]] mutex::line_wait : public waiter {
protected:
  line_wait() noexcept {}
  ~line_wait() = default;
  /// Before it joins the line of `of`, unless it insists: where it is told.
  void come_when_told(mutex& of, frame_handle self) noexcept {
    ::new (&summons_) summons(of, *this, self);
  }

private:
  friend class mutex;

  /// What is queued when it is told.
  struct summons : work {
    summons(mutex& of, line_wait& whose, frame_handle self) noexcept
        : work(come), to(of), who(whose), task(self) {}
    static void come(work& item) noexcept;
    mutex& to;
    line_wait& who;
    frame_handle task;
  };
  void tell() noexcept;
  /// It is in line before `other`: true if that need not be afraid that it is held up elsewhere.
  [[nodiscard]] bool comes_as_soon_as(const line_wait& other) const noexcept;

  call call_ = call::waits;  // under the line's lock; set when it joins
  // Made before a wait: who locks at once does without.
  union {
    summons summons_;
  };
};

/// The place of one who could not lock at once.
class [[gnu::visibility("default")]] mutex::lock_place final : public line_wait {
public:
  explicit lock_place(mutex& of) noexcept : of_(of) {}
  ~lock_place() {
    if (is_granted()) of_.unlock_for_next();
  }

  /// The rest of await_suspend(). `counted`: the turn has paid for it, and it was not free.
  [[nodiscard]] bool wait(frame_handle self, bool counted) noexcept;
  using line_wait::is_granted;
  using line_wait::take;

private:
  void start() noexcept override {
    if (of_.lock_or_join(*this, call::waits)) end_at_once();
  }
  bool start_behind_others() noexcept override { return of_.join_others(*this); }
  cancel_answer cancel() noexcept override {
    return of_.leave(*this) ? cancel_answer::detached : cancel_answer::pending;
  }

  mutex& of_;
};

/// See mutex::lock(). Who locks at once, and so cannot be unwound before it has the guard, does
/// without a place.
class [[gnu::visibility("default")]] mutex::lock_wait final {
public:
  using skua_awaiter_tag = void;

  explicit lock_wait(mutex& of) noexcept : of_(of) {}
  lock_wait(const lock_wait&) = delete;
  lock_wait& operator=(const lock_wait&) = delete;
  ~lock_wait() {
    if (has_place_) [[unlikely]]
      end_place();
  }

  bool await_ready() const noexcept { return has_place_ && place_.is_granted(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    const bool counted = !has_place_ && frame.promise().context->spend_from_turn();
    if (counted && of_.word_.try_lock()) [[likely]]
      return false;
    return wait(frame, counted);
  }
  guard await_resume() noexcept {
    if (has_place_) [[unlikely]]
      place_.take();
    return guard(of_);
  }

private:
  bool wait(frame_handle self, bool counted) noexcept;
  void end_place() noexcept;

  mutex& of_;
  bool has_place_ = false;
  union {
    lock_place place_;
  };
};

inline mutex::lock_wait mutex::lock() noexcept {
  return lock_wait(*this);
}

inline mutex::guard mutex::try_lock() noexcept {
  return word_.try_lock() ? guard(*this) : guard();
}

}  // namespace skua::inline SKUA_ABI
