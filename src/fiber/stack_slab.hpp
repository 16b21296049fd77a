// src/fiber/stack_slab.hpp: some stacks of one size in one mapping, each with its guard.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/fiber/stack_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skua::inline SKUA_ABI::fiber {

enum class guard_kind : unsigned char {
  marker,   ///< MADV_GUARD_INSTALL, Linux 6.13: a mark in the page table; mappings stay whole
  mapping,  ///< PROT_NONE: splits the mapping
  none,
};

/// What a pool counts and lends. Its fields belong to the pool, under its lock.
struct stack_slab : list_link<> {
  static constexpr std::size_t guard_size = std::size_t{16} * 1024;
  static constexpr std::size_t usual_size = std::size_t{1024} * 1024;

  /// Maps it, with guards of that kind; throws std::system_error: invalid_argument if the kernel
  /// knows no markers.
  stack_slab(std::size_t stack_size, guard_kind kind);
  stack_slab(const stack_slab&) = delete;
  stack_slab& operator=(const stack_slab&) = delete;
  ~stack_slab();

  [[nodiscard]] static std::size_t stacks_for(std::size_t stack_size) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return warm.size(); }
  [[nodiscard]] std::size_t mapped_bytes() const noexcept {
    return count() * (guard_size + stack_size);
  }
  [[nodiscard]] stack at(std::uint32_t index) noexcept;
  [[nodiscard]] std::uint32_t index_of(const stack& one) const noexcept;
  /// Gives its memory back to the system; what was in it is gone.
  static void cool(const stack& one) noexcept;

  std::size_t stack_size;
  guard_kind guard;
  std::byte* memory = nullptr;
  std::vector<std::uint32_t> unused;
  std::vector<bool> warm;  // unused, with memory
  std::size_t warm_count = 0;

private:
  [[nodiscard]] int put_guard(std::byte* below) noexcept;
  void put_guards();
};

}  // namespace skua::inline SKUA_ABI::fiber
