// skua/coro/callable_survives.hpp: whether a temporary callable can be used where it is awaited.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/promise_base.hpp"

#include <type_traits>

namespace skua::inline SKUA_ABI {

/// True if a temporary callable survives in a co_await expression. g++ 12 copies those with
/// captures bit by bit: docs/hazards.md.
template <typename Callable>
concept callable_survives = !uses_trampoline || std::is_lvalue_reference_v<Callable> ||
                            std::is_trivially_copyable_v<std::remove_cvref_t<Callable>>;

}  // namespace skua::inline SKUA_ABI
