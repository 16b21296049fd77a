// skua/sync/semaphore.hpp: so many at a time, and no more.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/sync/semaphore_word.hpp"
#include "skua/sync/wait_line.hpp"

#include <coroutine>
#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `auto held = co_await limit.acquire();` holds a permit until `held` is gone, and waits while
/// none is free. Any task or thread may take permits, give them back and add some.
///
/// First come, first served: whoever asks for many is not overtaken by those behind who ask for
/// few, and permits that come back are for the first in line. Waiting allocates nothing; with
/// nobody in line taking and giving back are one exchange each.
///
/// To acquire counts against the task's turn. When that is used up the task gives way before it
/// asks, not with permits in its hand.
///
/// Stopping a task that waits gives up its place, and those behind it that can go on do so at once.
/// If it was given its permits at that moment they come back.
class [[gnu::visibility("default")]] semaphore {
public:
  class permit;
  class acquire_wait;

  /// The most that can be free at a time. More ends the program, and says so.
  static constexpr std::size_t most = semaphore_word<std_atomics>::most;

  /// So many are free at first; more than `most` ends the program, and says so.
  explicit semaphore(std::size_t permits) noexcept : word_(permits) {
    check(permits <= most, "a semaphore has at most 2^62 - 1 permits");
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// `co_await limit.acquire(n)` gives a result<permit>: errc::closed if the semaphore is closed,
  /// or is closed meanwhile. All n or none; to ask for more than there are waits until they are
  /// added. Asking for 0 never waits.
  [[nodiscard]] acquire_wait acquire(std::size_t count = 1) noexcept;

  /// At once, or an empty permit: if there are not as many, if somebody waits, or if it is closed.
  [[nodiscard]] permit try_acquire(std::size_t count = 1) noexcept;

  /// There are more of them from now on.
  void add_permits(std::size_t count) noexcept {
    if (!word_.try_release(count)) release_in_line(count);
  }

  /// For good: those who wait, and all who ask later, get errc::closed. Permits that are held stay
  /// valid. Once is enough.
  void close() noexcept;

  // May be out of date when they return.

  /// How many are free, whoever waits for them.
  [[nodiscard]] std::size_t available() const noexcept { return word_.available(); }
  /// close() was called.
  [[nodiscard]] bool is_closed() const noexcept { return word_.is_closed(); }

private:
  void release_in_line(std::size_t count) noexcept;
  void serve(wait_line::granted& to) noexcept;

  semaphore_word<std_atomics> word_;
  wait_line line_;
};

/// Holds permits of one semaphore until it is destroyed or released. Moves; may be empty. The
/// semaphore outlives it.
class [[nodiscard]] semaphore::permit {
public:
  permit() = default;
  /// `from` is empty then.
  permit(permit&& from) noexcept
      : of_(std::exchange(from.of_, nullptr)), count_(std::exchange(from.count_, 0)) {}
  /// Gives back what it has. `from` is empty then.
  permit& operator=(permit&& from) noexcept {
    if (this != &from) {
      release();
      of_ = std::exchange(from.of_, nullptr);
      count_ = std::exchange(from.count_, 0);
    }
    return *this;
  }
  ~permit() { release(); }

  /// It was acquired, if only for 0.
  explicit operator bool() const noexcept { return of_ != nullptr; }
  /// How many it gives back.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// Gives back before its end. Nothing if it is empty.
  void release() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->add_permits(std::exchange(count_, 0));
  }
  /// They never come back: the semaphore has fewer from now on.
  void forget() noexcept {
    of_ = nullptr;
    count_ = 0;
  }
  /// A permit for `count` of those that this one holds, which keeps the rest.
  [[nodiscard]] permit split(std::size_t count) noexcept {
    check(of_ != nullptr && count <= count_, "a permit is split into what it holds");
    count_ -= count;
    return {*of_, count};
  }
  /// Takes over what `other` holds, of the same semaphore.
  void merge(permit other) noexcept {
    check(of_ == nullptr || other.of_ == nullptr || of_ == other.of_,
          "permits of one semaphore are merged");
    if (of_ == nullptr) of_ = other.of_;
    count_ += other.count_;
    other.forget();
  }

private:
  friend class semaphore;
  friend class acquire_wait;
  permit(semaphore& of, std::size_t count) noexcept : of_(&of), count_(count) {}

  semaphore* of_ = nullptr;
  std::size_t count_ = 0;
};

/// See semaphore::acquire().
class [[gnu::visibility("default")]] semaphore::acquire_wait final : public waiter {
public:
  acquire_wait(semaphore& of, std::size_t count) noexcept : of_(of), count_(count) {}
  ~acquire_wait() {
    if (is_granted()) [[unlikely]]
      give_back();
  }

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return wait_unless([this] { return of_.word_.try_acquire(count_); }, to_frame(self));
  }
  result<permit> await_resume() noexcept {
    take();
    if (refused_) [[unlikely]]
      return fail(errc::closed);
    return permit(of_, count_);
  }

private:
  friend class semaphore;
  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  void give_back() noexcept;

  semaphore& of_;
  const std::size_t count_;
  bool refused_ = false;
};

inline semaphore::acquire_wait semaphore::acquire(std::size_t count) noexcept {
  return {*this, count};
}

inline semaphore::permit semaphore::try_acquire(std::size_t count) noexcept {
  return word_.try_acquire(count) ? permit(*this, count) : permit();
}

}  // namespace skua::inline SKUA_ABI
