// src/runtime/cgroup_cpu_limit.hpp: how many CPUs the control groups of this process grant it.
#pragma once

#include "skua/base/abi.hpp"

#include <optional>
#include <string_view>

namespace skua::inline SKUA_ABI {

/// CPU time per time that this process may use, e.g. 1.5; empty if nothing limits it. Of the limits
/// on the process's own group and on those around it the smallest counts, of version 2 (cpu.max)
/// and version 1 (cpu.cfs_quota_us / cpu.cfs_period_us) alike. A file that is missing, unreadable
/// or not understood limits nothing, and so does a lack of memory to read it.
///
/// `root` goes before every path that is read: empty for the machine, a directory for a test.
[[nodiscard]] std::optional<double> cgroup_cpu_limit(std::string_view root = {}) noexcept;

}  // namespace skua::inline SKUA_ABI
