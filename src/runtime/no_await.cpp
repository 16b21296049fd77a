// src/runtime/no_await.cpp: counted by the thread; task_cell and parallel_group look.
#include "skua/runtime/no_await.hpp"

#include "runtime/current.hpp"

namespace skua::inline SKUA_ABI {

no_await::no_await() noexcept {
  ++current().no_awaits;
}

no_await::~no_await() {
  --current().no_awaits;
}

}  // namespace skua::inline SKUA_ABI
