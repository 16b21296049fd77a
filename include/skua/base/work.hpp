// skua/base/work.hpp: the one thing that travels: a unit that can be run, with an intrusive link.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI {

/// A work item is in exactly one place at a time: a queue, a worker's hand, or the kernel.
/// Whoever holds it owns `next`; nobody else may read or write it.
struct work {
  /// What an item does when its turn comes. It must not throw.
  using run_function = void (*)(work&) noexcept;

  /// In no queue; `how` is called when it is run.
  explicit work(run_function how) noexcept : run(how) {}
  work(const work&) = delete;
  work& operator=(const work&) = delete;

  work* next = nullptr;  ///< the next in the queue that has it
  /// Called by the holder, once per time the item was queued. The item may be gone when it returns.
  run_function run;
};

}  // namespace skua::inline SKUA_ABI
