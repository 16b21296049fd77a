// skua/time/retry_options.hpp: how often something is tried again, and after which pauses.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/duration.hpp"
#include "skua/time/time_span.hpp"

#include <cstdint>
#include <system_error>

namespace skua::inline SKUA_ABI {

/// `retry_options().attempts(8).first_pause(50ms).total(10s)`. What makes no sense ends the
/// program, and says so.
class retry_options {
public:
  /// Whether an error is worth another attempt.
  using predicate = bool (*)(const std::error_code&);

  /// How often it is tried at most, the first time included: 5.
  retry_options& attempts(std::uint32_t most) noexcept {
    check(most > 0, "retry: there is at least one attempt");
    attempts_ = most;
    return *this;
  }

  /// Between the first attempt and the second: 100 ms.
  template <duration_like Duration>
  retry_options& first_pause(Duration length) noexcept {
    first_pause_ = not_negative(length);
    return *this;
  }

  /// Each pause is so many times as long as the one before: 2, at least 1.
  retry_options& factor(double times) noexcept {
    check(times >= 1, "retry: pauses do not get shorter: factor is at least 1");
    factor_ = times;
    return *this;
  }

  /// But none is longer than this: 30 s.
  template <duration_like Duration>
  retry_options& longest_pause(Duration length) noexcept {
    longest_pause_ = not_negative(length);
    return *this;
  }

  /// So much of each pause, 0 to 1, is left to chance, so that those who failed together do not
  /// come back together: 0.5, half of it to all of it.
  retry_options& jitter(double part) noexcept {
    check(part >= 0 && part <= 1, "retry: jitter is a part of a pause, 0 to 1");
    jitter_ = part;
    return *this;
  }

  /// For all attempts and pauses together: no limit. A pause that would go past it is not begun;
  /// an attempt that is under way then is stopped.
  template <duration_like Duration>
  retry_options& total(Duration length) noexcept {
    total_ = not_negative(length);
    return *this;
  }

  /// Which errors are worth another attempt: all. A function, or a lambda without captures.
  retry_options& only_if(predicate worth) noexcept {
    check(worth != nullptr, "retry: only_if takes a function");
    only_if_ = worth;
    return *this;
  }

  /// Where chance begins: by default somewhere else each time, but in virtual time always at the
  /// same place, after config::seed and the number of the task.
  retry_options& seed(std::uint64_t where) noexcept {
    seed_ = where;
    has_seed_ = true;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] constexpr std::uint32_t attempts() const noexcept { return attempts_; }
  [[nodiscard]] constexpr time_span first_pause() const noexcept { return first_pause_; }
  [[nodiscard]] constexpr double factor() const noexcept { return factor_; }
  [[nodiscard]] constexpr time_span longest_pause() const noexcept { return longest_pause_; }
  [[nodiscard]] constexpr double jitter() const noexcept { return jitter_; }
  [[nodiscard]] constexpr time_span total() const noexcept { return total_; }
  [[nodiscard]] constexpr bool has_seed() const noexcept { return has_seed_; }
  [[nodiscard]] constexpr std::uint64_t seed() const noexcept { return seed_; }
  ///@}
  /// What only_if() was told says so; without it, always.
  [[nodiscard]] bool is_worth_retrying(const std::error_code& error) const {
    return only_if_ == nullptr || only_if_(error);
  }

private:
  static time_span not_negative(time_span length) noexcept {
    check(length.count() >= 0, "retry: a length of time is not negative");
    return length;
  }
  static constexpr std::int64_t milliseconds = 1'000'000;

  std::uint32_t attempts_ = 5;
  bool has_seed_ = false;
  std::uint64_t seed_ = 0;
  time_span first_pause_ = time_span::of_nanoseconds(100 * milliseconds);
  time_span longest_pause_ = time_span::of_nanoseconds(30'000 * milliseconds);
  time_span total_ = time_span::longest();
  double factor_ = 2;
  double jitter_ = 0.5;
  predicate only_if_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
