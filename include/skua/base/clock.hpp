// skua/base/clock.hpp: where the time comes from: the kernel, or the hand of a test.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Time that never goes back. Passed by reference to whoever needs it; outlives them.
class [[gnu::visibility("default")]] clock {
public:
  /// Nanoseconds since some fixed moment: only differences mean something. From any thread.
  [[nodiscard]] virtual std::int64_t now() const noexcept = 0;

  /// False: it stands still, and is moved by those who look at it. Nobody sleeps until a deadline
  /// of such a clock then, since none comes by waiting.
  [[nodiscard]] virtual bool runs() const noexcept { return true; }

  clock(const clock&) = delete;
  clock& operator=(const clock&) = delete;

protected:
  clock() = default;
  ~clock() = default;  // nobody owns a clock through this interface
};

/// CLOCK_MONOTONIC: stands still while the machine is suspended. Has no state.
class [[gnu::visibility("default")]] monotonic_clock final : public clock {
public:
  [[nodiscard]] std::int64_t now() const noexcept override;
};

/// Moves only when told to. Every function may be called from any thread.
class [[gnu::visibility("default")]] manual_clock final : public clock {
public:
  /// Stands at `start` nanoseconds.
  explicit manual_clock(std::int64_t start = 0) noexcept : now_(start) {}

  /// Whoever reads the new time also sees all that was written before it was set.
  [[nodiscard]] std::int64_t now() const noexcept override;

  /// `nanoseconds` is not negative and does not lead past the last instant an int64 can hold.
  void advance(std::int64_t nanoseconds) noexcept;

private:
  // Only touched through std::atomic_ref, which keeps <atomic> out of this header. Mutable because
  // the library has no atomic_ref to const yet.
  mutable std::int64_t now_;
};

}  // namespace skua::inline SKUA_ABI
