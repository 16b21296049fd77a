// tools/skua/machine.hpp: what a machine offers to a runtime.
#pragma once

#include <skua/driver/driver_info.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skua_tool {

/// Of getrlimit(2); empty: none.
struct resource_limit {
  std::optional<std::uint64_t> soft;
  std::optional<std::uint64_t> hard;
};

struct ring_operation {
  const char* name;
  bool known;
};

struct machine_facts {
  std::string kernel;

  bool uring_works = false;
  std::string uring_reason;  // why not; empty if it works
  skua::driver_info rings;   // if it works
  bool rings_of_one_thread = false;
  std::vector<ring_operation> operations;

  skua::driver_info taken;
  std::string taken_error;  // why no runtime starts; empty if one does

  resource_limit locked_memory;
  resource_limit open_files;
  std::size_t cpus = 0;             // by affinity
  std::size_t workers_granted = 0;  // by affinity, and the cgroup's quota
  std::size_t workers = 0;          // that were asked for, or the same

  std::vector<std::string> warnings;  // a sentence each
};

/// Asks the kernel, and starts runtimes to see which do. `workers`: 0 for as many as there are
/// CPUs.
[[nodiscard]] machine_facts examine_machine(std::size_t workers);

/// Every operation that skua hands to a ring, and whether this kernel's rings know it.
[[nodiscard]] std::vector<ring_operation> probe_operations();

}  // namespace skua_tool
