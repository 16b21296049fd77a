// src/driver/blocking_call.hpp: an operation as the plain system call that it stands for.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/operation.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Does it on the calling thread, however long that takes, and gives what operation::result says.
/// Signals do not interrupt it; a futex_wait ends with -ECANCELED after interrupt().
[[nodiscard]] std::int32_t call_and_block(operation& op) noexcept;

/// Any thread: ends a call_and_block() that can be ended, now or as soon as it begins.
void interrupt(operation& op) noexcept;

/// An error if nobody here could take the end of that process: it is none, or not our child.
/// Otherwise 0; takes nothing.
[[nodiscard]] std::int32_t look_at_process(const operation& op) noexcept;

/// Takes the end of a process whose pidfd is readable. -EAGAIN: it has not ended, look again.
[[nodiscard]] std::int32_t take_process_end(const operation& op) noexcept;

}  // namespace skua::inline SKUA_ABI
