// src/runtime/cpu_pinning.hpp: turns what a config asks for into the CPUs of each worker.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/pinning.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI {

/// Sorted.
using cpu_list = std::vector<std::uint32_t>;

/// The machine as this thread sees it.
struct cpu_map {
  cpu_list present;  // all that the kernel knows
  cpu_list allowed;  // of these: where we may run
  struct node {
    std::uint32_t number;
    cpu_list cpus;
  };
  std::vector<node> nodes;  // sorted; without NUMA one, number 0, with all

  /// Reads `devices`, /sys/devices/system or what a test puts in its place, and the mask of the
  /// calling thread.
  [[nodiscard]] static cpu_map read(const std::string& devices);
};

/// "0-3,8,10-11"; what cannot be read is left out.
[[nodiscard]] cpu_list parse_cpu_list(std::string_view text);

/// The CPUs of each worker, or a sentence that says what is wrong. Nothing to pin: empty.
[[nodiscard]] std::expected<std::vector<cpu_list>, std::string> cpus_of_workers(
    const pinning& wanted, std::size_t workers, const cpu_map& machine);

/// 0, or an errno.
[[nodiscard]] int pin_thread(pthread_t which, const cpu_list& to) noexcept;

}  // namespace skua::inline SKUA_ABI
