// src/driver/uring/kernel_abi.hpp: numbers of kernels newer than the headers we build with.
#pragma once

#include "skua/base/abi.hpp"

#include <liburing.h>

#include <cstdint>

/// Whether the running kernel knows them is asked of it, never of its version.
namespace skua::inline SKUA_ABI::kernel_abi {

inline constexpr std::uint8_t op_futex_wait = 51;  // Linux 6.7
inline constexpr std::uint8_t op_ftruncate = 55;   // Linux 6.9

inline constexpr std::int32_t futex_size_u32 = 0x02;
inline constexpr std::int32_t futex_private = 0x80;
inline constexpr std::uint64_t futex_any_bit = 0xffffffff;

}  // namespace skua::inline SKUA_ABI::kernel_abi
