// skua/sync/owned.hpp: guards and permits that keep alive what they are of.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/sync/mutex.hpp"
#include "skua/sync/semaphore.hpp"

#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Something `Held`, and the pointer to what it is of. `Held` goes first. Moves; may be empty.
template <typename Pointer, typename Held>
class [[nodiscard]] owned {
public:
  owned() = default;
  /// Made by lock_owned() and acquire_owned().
  owned(Pointer owner, Held held) noexcept : owner_(std::move(owner)), held_(std::move(held)) {}
  /// `from` is empty then.
  owned(owned&& from) noexcept = default;
  /// What it held is given back before its owner is let go. `from` is empty then.
  owned& operator=(owned&& from) noexcept {
    if (this != &from) {
      held_ = std::move(from.held_);  // before the owner: what it gives back, it gives back to that
      owner_ = std::move(from.owner_);
    }
    return *this;
  }
  ~owned() = default;

  /// It holds something.
  explicit operator bool() const noexcept { return static_cast<bool>(held_); }
  /// The guard or permit itself.
  Held& operator*() noexcept { return held_; }
  /// A part of the guard or permit.
  Held* operator->() noexcept { return &held_; }
  /// What keeps the mutex or semaphore alive; null if this is empty.
  [[nodiscard]] const Pointer& owner() const noexcept { return owner_; }

private:
  Pointer owner_{};
  Held held_;  // behind its owner: destroyed first
};

/// A wait for something of what `Pointer` owns, and which stays alive meanwhile.
template <typename Pointer, typename Wait>
class owned_wait {
public:
  using skua_awaiter_tag = void;

  template <typename... Args>
  explicit owned_wait(Pointer owner, Args... args) noexcept
      : owner_(std::move(owner)), wait_(*owner_, args...) {}

  bool await_ready() const noexcept { return wait_.await_ready(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    check(static_cast<bool>(owner_), "what owns is given away once: await it once");
    return wait_.await_suspend(self);
  }

protected:
  Pointer owner_;
  Wait wait_;  // behind its owner: destroyed first
};

template <typename Pointer>
class owned_lock_wait final : public owned_wait<Pointer, mutex::lock_wait> {
public:
  using owned_wait<Pointer, mutex::lock_wait>::owned_wait;

  owned<Pointer, mutex::guard> await_resume() noexcept {
    mutex::guard held = this->wait_.await_resume();
    return {std::move(this->owner_), std::move(held)};
  }
};

template <typename Pointer>
class owned_acquire_wait final : public owned_wait<Pointer, semaphore::acquire_wait> {
public:
  using owned_wait<Pointer, semaphore::acquire_wait>::owned_wait;

  result<owned<Pointer, semaphore::permit>> await_resume() noexcept {
    result<semaphore::permit> held = this->wait_.await_resume();
    if (!held) return fail(held.error());
    return owned<Pointer, semaphore::permit>(std::move(this->owner_), std::move(*held));
  }
};

/// A pointer to a T that keeps it alive, such as a std::shared_ptr.
template <typename Pointer, typename T>
concept owner_of = std::is_same_v<std::remove_cvref_t<decltype(*std::declval<Pointer&>())>, T>;

/// `auto held = co_await lock_owned(pointer);` locks the mutex that `pointer` owns: a
/// std::shared_ptr, or any other that is not null. The guard keeps the mutex alive, so that it may
/// go into another task: `held->unlock()`, or its end. A mutex that is a member of something shared
/// is owned by an aliasing pointer: `std::shared_ptr<mutex>(all, &all->lock)`.
template <typename Pointer>
  requires owner_of<Pointer, mutex>
[[nodiscard]] owned_lock_wait<Pointer> lock_owned(Pointer pointer) noexcept {
  check(static_cast<bool>(pointer), "there is no mutex behind a null pointer");
  return owned_lock_wait<Pointer>(std::move(pointer));
}

/// At once, or an empty guard, which owns nothing.
template <typename Pointer>
  requires owner_of<Pointer, mutex>
[[nodiscard]] owned<Pointer, mutex::guard> try_lock_owned(Pointer pointer) noexcept {
  check(static_cast<bool>(pointer), "there is no mutex behind a null pointer");
  mutex::guard held = pointer->try_lock();
  if (!held) return {};
  return {std::move(pointer), std::move(held)};
}

/// `auto held = co_await acquire_owned(pointer, n);` the same for permits: a result, since the
/// semaphore may be closed. `(*held)->release()`, or its end.
template <typename Pointer>
  requires owner_of<Pointer, semaphore>
[[nodiscard]] owned_acquire_wait<Pointer> acquire_owned(Pointer pointer,
                                                        std::size_t count = 1) noexcept {
  check(static_cast<bool>(pointer), "there is no semaphore behind a null pointer");
  return owned_acquire_wait<Pointer>(std::move(pointer), count);
}

/// At once, or an empty permit, which owns nothing.
template <typename Pointer>
  requires owner_of<Pointer, semaphore>
[[nodiscard]] owned<Pointer, semaphore::permit> try_acquire_owned(Pointer pointer,
                                                                  std::size_t count = 1) noexcept {
  check(static_cast<bool>(pointer), "there is no semaphore behind a null pointer");
  semaphore::permit held = pointer->try_acquire(count);
  if (!held) return {};
  return {std::move(pointer), std::move(held)};
}

}  // namespace skua::inline SKUA_ABI
