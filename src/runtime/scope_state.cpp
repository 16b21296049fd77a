// src/runtime/scope_state.cpp: tell the waiter, and only when there is something to see.
#include "runtime/scope_state.hpp"

#include "driver/driver.hpp"
#include "skua/base/check.hpp"

namespace skua::inline SKUA_ABI {

void scope_state::open(std::uint32_t roots) noexcept {
  check(live_.quiet(), "a scope is opened when nobody lives in it");
  // order: none; the roots are not spawned yet, and carry all of this along.
  roots_left_.store(roots, std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
  stopping_.store(false, std::memory_order_relaxed);
}

void scope_state::root_ended(bool failed) noexcept {
  // order: none; read after the count below.
  if (failed) failed_.store(true, std::memory_order_relaxed);
  // order: [scope.roots] release: the root's result, and whether it failed.
  const bool last = roots_left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (last || failed) signal();
}

void scope_state::stop_newcomers() noexcept {
  // order: [scope.stop] release: why it stops.
  stopping_.store(true, std::memory_order_release);
  process_barrier::heavy();  // a spawn that does not see this yet is seen by the walk that follows
}

void scope_state::signal() noexcept {
  // order: [scope.signal] release: what there is to see.
  signalled_.store(true, std::memory_order_release);
  parker_.wake();
  if (drives_ != nullptr) drives_->wake();
}

// Two tasks may end at once, each before the other's count reaches it, and neither see silence. The
// exchange puts them in an order: the second sees both.
bool scope_state::tell_if_quiet() noexcept {
  // order: [scope.look] release: the end just counted. [scope.look] acquire: the other's.
  looks_.fetch_add(1, std::memory_order_acq_rel);
  if (!live_.quiet()) return false;
  signal();
  return true;
}

}  // namespace skua::inline SKUA_ABI
