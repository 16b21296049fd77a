// src/fiber/switch_record.hpp: what is needed to switch to a fiber's stack and back.
#pragma once

#include "fiber/switch_notes.hpp"
#include "skua/base/abi.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI::fiber {

/// What the C++ runtime keeps for each thread of the exceptions that are under way: belongs to the
/// stack, since a fiber may await in a catch block. The layout is that of the C++ ABI.
struct exceptions_under_way {
  void* caught = nullptr;
  unsigned uncaught = 0;

  /// Where the C++ runtime keeps the calling thread's.
  [[nodiscard]] static void* of_thread() noexcept;
  void swap_with(void* of_thread) noexcept;
};

/// Lies at the top of the fiber's stack.
struct switch_record {
  switch_record(std::byte* lowest, std::size_t size) noexcept : notes(lowest, size) {}

  /// The side that does not run: the fiber's, or that of whoever switched to it.
  void* other = nullptr;
  switch_notes notes;
  exceptions_under_way exceptions;
  int error = 0;  // errno
};

}  // namespace skua::inline SKUA_ABI::fiber
