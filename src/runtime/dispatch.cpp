// src/runtime/dispatch.cpp: count, compare, or take what is nearest.
#include "skua/runtime/dispatch.hpp"

namespace skua::inline SKUA_ABI::dispatch {
namespace {

// The upper half of the product falls into each worker's range equally often, without a division.
std::size_t share_of(std::uint64_t number, std::size_t workers) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::size_t>((wide{number} * workers) >> 64U);
}

}  // namespace

std::size_t round_robin::choose(const placement& of) noexcept {
  // order: none; a number that stands for itself.
  return next_.fetch_add(1, std::memory_order_relaxed) % of.workers();
}

std::size_t round_robin::position() const noexcept {
  // order: none; as above.
  return next_.load(std::memory_order_relaxed);
}

least_loaded::least_loaded(const least_loaded& from) noexcept
    // order: none; a number that stands for itself.
    : asked_(from.asked_.load(std::memory_order_relaxed)) {}

// Multiples of the golden ratio: they come to each worker equally often, as every second, third or
// tenth of them do, so that among equals no rhythm of long and short tasks can hit.
std::size_t least_loaded::choose(const placement& of) noexcept {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  // order: none; a number that stands for itself.
  const std::size_t first =
      share_of(asked_.fetch_add(1, std::memory_order_relaxed) * golden, of.workers());
  std::size_t best = first;
  std::size_t fewest = of.tasks(first);
  for (std::size_t i = 1; i < of.workers() && fewest > 0; ++i) {
    const std::size_t other = (first + i) % of.workers();
    const std::size_t tasks = of.tasks(other);
    if (tasks >= fewest) continue;
    best = other;
    fewest = tasks;
  }
  return best;
}

std::size_t hash::choose(const placement& of) noexcept {
  return of.has_key() ? share_of(of.key(), of.workers()) : without_key_.choose(of);
}

std::size_t local_first::choose(const placement& of) noexcept {
  return of.here() != placement::nowhere ? of.here() : from_outside_.choose(of);
}

}  // namespace skua::inline SKUA_ABI::dispatch
