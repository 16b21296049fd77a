// src/driver/uring/prepare.hpp: an operation in the words of io_uring.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/operation.hpp"

#include <liburing.h>

#include <cstdint>

namespace skua::inline SKUA_ABI {

/// The kernel's number for it.
[[nodiscard]] std::uint8_t uring_code(op_code code) noexcept;

/// Fills `entry`, which is all zero, but for its user_data.
void prepare(io_uring_sqe& entry, const operation& op) noexcept;

}  // namespace skua::inline SKUA_ABI
