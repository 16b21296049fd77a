// src/time/backoff.cpp: multiply, cap, and leave a part to chance.
#include "skua/time/backoff.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/task_cell.hpp"
#include "skua/base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace skua::inline SKUA_ABI {
namespace {

/// Where there is real time it tells processes apart that were started with the same seed.
std::uint64_t seed_for_this_task() noexcept {
  const current_state& here = current();
  std::uint64_t seed = here.runtime != nullptr ? here.runtime->settings().seed : 0;
  if (here.task != nullptr) seed += here.task->id();
  const bool repeats = here.runtime != nullptr && here.runtime->virtual_time() != nullptr;
  return repeats ? seed : seed ^ static_cast<std::uint64_t>(monotonic_clock().now());
}

}  // namespace

backoff::backoff(const retry_options& how) noexcept
    : first_(static_cast<double>(how.first_pause().count())),
      longest_(static_cast<double>(how.longest_pause().count())),
      factor_(how.factor()),
      jitter_(how.jitter()),
      pause_(first_),
      random_(how.has_seed() ? how.seed() : seed_for_this_task()) {}

time_span backoff::next() noexcept {
  constexpr std::uint64_t steps = std::uint64_t{1} << 53;  // as fine as a double
  const double whole = std::min(pause_, longest_);
  pause_ = std::min(pause_ * factor_, longest_);
  const double chance = static_cast<double>(random_.below(steps)) / static_cast<double>(steps);
  const double length = whole - whole * jitter_ * chance;
  // 2^63 is the first that is too much for an int64.
  if (length >= 0x1p63) return time_span::longest();
  return time_span::of_nanoseconds(static_cast<std::int64_t>(length));
}

}  // namespace skua::inline SKUA_ABI
