// skua/runtime/run.hpp: runs a program's main task and gives what main() returns.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/runtime.hpp"

#include <source_location>
#include <utility>

namespace skua::inline SKUA_ABI {

[[noreturn, gnu::visibility("default")]] void throw_start_error(const start_error& why);

/// `int main() { return skua::run(amain()); }`: a runtime with default settings (multi_thread, a
/// worker per CPU) runs `root` and all that is spawned beneath it to the end, and ends. Gives the
/// value of `root`, rethrows its exception; throws std::system_error if the runtime cannot start.
template <typename Spawnable>
decltype(auto) run(Spawnable&& root, std::source_location where = std::source_location::current()) {
  auto here = runtime::start(config());
  if (!here) throw_start_error(here.error());
  return here->block_on(std::forward<Spawnable>(root), where);
}

}  // namespace skua::inline SKUA_ABI
