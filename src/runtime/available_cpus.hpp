// src/runtime/available_cpus.hpp: how many threads can run at the same time, by what we may use.
#pragma once

#include "skua/base/abi.hpp"

#include <sched.h>

#include <cstddef>
#include <optional>

namespace skua::inline SKUA_ABI {

/// CPUs that the calling thread may run on, but no more than its control groups grant it time for,
/// rounded up. At least 1. Reads files: to be asked once, at start.
[[nodiscard]] std::size_t available_cpus() noexcept;

/// The parts, for tests.

/// `limit` rounded up if it is less than `in_mask`; at least 1.
[[nodiscard]] std::size_t usable_cpus(std::size_t in_mask, std::optional<double> limit) noexcept;

/// sched_getaffinity(), or what a test puts in its place.
using affinity_query = int (*)(pid_t thread, std::size_t bytes, cpu_set_t* mask);

/// CPUs in the calling thread's mask, however many the machine has; 0 if the kernel does not say.
[[nodiscard]] std::size_t cpus_in_affinity_mask(affinity_query ask) noexcept;

}  // namespace skua::inline SKUA_ABI
