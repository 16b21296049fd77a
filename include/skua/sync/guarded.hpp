// skua/sync/guarded.hpp: data that can be reached only while its mutex is held.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/mutex.hpp"

#include <coroutine>
#include <utility>

namespace skua::inline SKUA_ABI {

/// The T lives inside the lock:
///
///   skua::guarded<table> shared;
///   auto held = co_await shared.lock();
///   held->insert(key, value);
///
/// Waiting, order, stopping and cost are those of skua::mutex. A reference to the T that outlives
/// the guard is not protected any more.
template <typename T>
class guarded {
public:
  class guard;
  class lock_wait;

  /// The T is made of these.
  template <typename... Args>
  explicit guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  /// `co_await shared.lock()` gives a guard.
  [[nodiscard]] lock_wait lock() noexcept { return lock_wait(*this); }

  /// At once, or not: `if (auto held = shared.try_lock()) ...`
  [[nodiscard]] guard try_lock() noexcept { return guard(mutex_.try_lock(), value_); }

private:
  mutex mutex_;
  T value_;
};

/// Holds the mutex, and reaches the T, until it is destroyed or unlocked. Moves; may be empty, and
/// then there is no T to reach: that ends the program, and says so.
template <typename T>
class [[nodiscard]] guarded<T>::guard {
public:
  guard() = default;

  /// It holds the lock.
  explicit operator bool() const noexcept { return static_cast<bool>(held_); }
  /// The T. Only while it holds the lock.
  T& operator*() const noexcept {
    check(static_cast<bool>(held_), "guarded data is reached by a guard that holds the lock");
    return *value_;
  }
  /// A part of the T. Only while it holds the lock.
  T* operator->() const noexcept { return &**this; }

  /// Before its end. Nothing if it is empty.
  void unlock() noexcept { held_.unlock(); }
  /// The lock alone, for condition_variable::wait().
  [[nodiscard]] mutex::guard& lock_guard() noexcept { return held_; }

private:
  friend class guarded;
  guard(mutex::guard held, T& value) noexcept : held_(std::move(held)), value_(&value) {}

  mutex::guard held_;
  T* value_ = nullptr;
};

/// See guarded::lock().
template <typename T>
class guarded<T>::lock_wait {
public:
  using skua_awaiter_tag = void;

  explicit lock_wait(guarded& of) noexcept : wait_(of.mutex_), value_(of.value_) {}

  bool await_ready() const noexcept { return wait_.await_ready(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return wait_.await_suspend(self);
  }
  guard await_resume() noexcept { return guard(wait_.await_resume(), value_); }

private:
  mutex::lock_wait wait_;
  T& value_;
};

}  // namespace skua::inline SKUA_ABI
