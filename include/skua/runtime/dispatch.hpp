// skua/runtime/dispatch.hpp: the dispatchers that come with the library.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/placement.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI::dispatch {

/// One worker after the other, whoever spawns. One counter, which all who spawn share.
class [[gnu::visibility("default")]] round_robin {
public:
  round_robin() noexcept = default;
  /// A counter of its own, which goes on from where that of `from` is.
  round_robin(const round_robin& from) noexcept : next_(from.position()) {}
  round_robin& operator=(const round_robin&) = delete;
  ~round_robin() = default;

  /// The next one. One atomic addition.
  [[nodiscard]] std::size_t choose(const placement& of) noexcept;

private:
  [[nodiscard]] std::size_t position() const noexcept;
  std::atomic<std::size_t> next_{0};
};

/// The worker with the fewest tasks; among equals each equally often. Looks at all workers: a
/// cache line each. Threads that spawn at the same moment may see the same numbers, so that a
/// worker gets a task too many for each of them.
class [[gnu::visibility("default")]] least_loaded {
public:
  least_loaded() noexcept = default;
  /// As `from`, with a counter of its own.
  least_loaded(const least_loaded& from) noexcept;
  least_loaded& operator=(const least_loaded&) = delete;
  ~least_loaded() = default;

  /// Looks at all of them.
  [[nodiscard]] std::size_t choose(const placement& of) noexcept;

private:
  std::atomic<std::uint64_t> asked_{0};
};

/// The same key, the same worker, for as long as the runtime lives: see spawn_by(). Tasks without a
/// key go to one worker after the other.
class [[gnu::visibility("default")]] hash {
public:
  /// By the key, or in turn.
  [[nodiscard]] std::size_t choose(const placement& of) noexcept;

private:
  round_robin without_key_;
};

/// Children stay with the task that spawns them; what comes from outside goes to one worker after
/// the other. This is the default: a child finds what its parent has just touched, and is queued
/// without a read-modify-write.
class [[gnu::visibility("default")]] local_first {
public:
  /// The worker that asks, or in turn if none does.
  [[nodiscard]] std::size_t choose(const placement& of) noexcept;

private:
  round_robin from_outside_;
};

}  // namespace skua::inline SKUA_ABI::dispatch
