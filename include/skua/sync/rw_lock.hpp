// skua/sync/rw_lock.hpp: many who read, or one who writes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/sync/semaphore.hpp"

#include <coroutine>
#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `auto held = co_await lock.read();` shares it with others who read, `co_await lock.write()` has
/// it alone; until `held` is gone. Like skua::mutex it may be held across suspensions, and any task
/// or thread may lock and unlock.
///
/// First come, first served: who wants to read waits behind those who came before it and want to
/// write, so that writers get their turn; readers that stand next to each other in line go on
/// together, so that readers get theirs. A task that reads and asks to read again may wait for
/// itself, with a writer in between. Waiting allocates nothing; with nobody in the way lock and
/// unlock are one exchange each.
///
/// Stopping a task that waits gives up its place, and those behind it that can go on do so at once.
/// If the lock was given to it at that moment it is passed on.
class rw_lock {
public:
  class read_guard;
  class write_guard;
  class read_wait;
  class write_wait;

  rw_lock() = default;
  rw_lock(const rw_lock&) = delete;
  rw_lock& operator=(const rw_lock&) = delete;
  ~rw_lock() { check(shares_.available() == all, "a rw_lock is destroyed while nobody holds it"); }

  /// `co_await l.read()` gives a read_guard.
  [[nodiscard]] read_wait read() noexcept;
  /// `co_await l.write()` gives a write_guard.
  [[nodiscard]] write_wait write() noexcept;

  /// At once, or an empty guard: if somebody is in the way, or waits.
  [[nodiscard]] read_guard try_read() noexcept;
  /// At once, or an empty guard: if anybody reads or writes.
  [[nodiscard]] write_guard try_write() noexcept;

private:
  static constexpr std::size_t all = semaphore::most;

  semaphore shares_{all};  // one for each who reads, all for who writes
};

/// Reads until it is destroyed or unlocked. Moves; may be empty.
class [[nodiscard]] rw_lock::read_guard {
public:
  read_guard() = default;

  /// It holds a share.
  explicit operator bool() const noexcept { return static_cast<bool>(share_); }
  /// Before its end. Nothing if it is empty.
  void unlock() noexcept { share_.release(); }

private:
  friend class rw_lock;
  friend class write_guard;
  friend class read_wait;
  explicit read_guard(semaphore::permit share) noexcept : share_(std::move(share)) {}

  semaphore::permit share_;
};

/// Writes until it is destroyed, unlocked or downgraded. Moves; may be empty.
class [[nodiscard]] rw_lock::write_guard {
public:
  write_guard() = default;

  /// It holds the lock.
  explicit operator bool() const noexcept { return static_cast<bool>(shares_); }
  /// Before its end. Nothing if it is empty.
  void unlock() noexcept { shares_.release(); }

  /// From now on it reads: `auto reads = std::move(writes).downgrade();` Nobody writes in between,
  /// and those who are next in line to read go on. It is not empty.
  [[nodiscard]] read_guard downgrade() && noexcept {
    check(static_cast<bool>(shares_), "a guard that holds a rw_lock is downgraded");
    read_guard reads(shares_.split(1));
    unlock();
    return reads;
  }

private:
  friend class rw_lock;
  friend class write_wait;
  explicit write_guard(semaphore::permit shares) noexcept : shares_(std::move(shares)) {}

  semaphore::permit shares_;
};

/// See rw_lock::read().
class rw_lock::read_wait {
public:
  using skua_awaiter_tag = void;

  explicit read_wait(rw_lock& of) noexcept : wait_(of.shares_, 1) {}

  bool await_ready() const noexcept { return wait_.await_ready(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return wait_.await_suspend(self);
  }
  read_guard await_resume() noexcept { return read_guard(std::move(*wait_.await_resume())); }

private:
  semaphore::acquire_wait wait_;
};

/// See rw_lock::write().
class rw_lock::write_wait {
public:
  using skua_awaiter_tag = void;

  explicit write_wait(rw_lock& of) noexcept : wait_(of.shares_, all) {}

  bool await_ready() const noexcept { return wait_.await_ready(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return wait_.await_suspend(self);
  }
  write_guard await_resume() noexcept { return write_guard(std::move(*wait_.await_resume())); }

private:
  semaphore::acquire_wait wait_;
};

inline rw_lock::read_wait rw_lock::read() noexcept {
  return read_wait(*this);
}

inline rw_lock::write_wait rw_lock::write() noexcept {
  return write_wait(*this);
}

inline rw_lock::read_guard rw_lock::try_read() noexcept {
  return read_guard(shares_.try_acquire());
}

inline rw_lock::write_guard rw_lock::try_write() noexcept {
  return write_guard(shares_.try_acquire(all));
}

}  // namespace skua::inline SKUA_ABI
