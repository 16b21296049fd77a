// tools/skua/runtime_flags.hpp: the runtime that a command asks for.
#pragma once

#include "json.hpp"

#include <skua/runtime/runtime.hpp>

#include <cstddef>
#include <string>

namespace skua_tool {

/// As they stand on the command line.
struct runtime_flags {
  std::size_t workers = 0;  // 0: as many as there are CPUs
  std::string flavour = "multi_thread";
  std::string backend = "auto";
};

/// The names there are.
[[nodiscard]] skua::backend backend_named(const std::string& name);
[[nodiscard]] skua::flavour flavour_named(const std::string& name);

/// Throws a failure. Tasks of a thread_per_core runtime go to one worker after the other.
[[nodiscard]] skua::runtime start_runtime(const runtime_flags& asked);

/// `2 workers, multi_thread, uring`.
[[nodiscard]] std::string describe(const runtime_flags& asked, const skua::runtime_handle& here);

/// The same as an object named "runtime".
void put_runtime(json& out, const runtime_flags& asked, const skua::runtime_handle& here);

/// Of all workers together.
[[nodiscard]] std::uint64_t steals_in(const skua::metrics_snapshot& seen);

}  // namespace skua_tool
