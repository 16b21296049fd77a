// skua/fiber/stack_pool.hpp: stacks for fibers, guarded, used again and again.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/fiber/stack_pool_options.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI::fiber {

struct stack_slab;

/// A piece of memory with a guard below it. Belongs to a pool; whoever took it gives it back.
struct stack {
  std::byte* lowest = nullptr;  ///< stacks grow downwards, to here
  std::size_t size = 0;         ///< bytes from `lowest` to the top; 0: there is no stack
  std::size_t guard_size = 0;   ///< below `lowest`; 0: none
  stack_slab* slab = nullptr;   ///< of which it is a part

  /// Where it begins.
  [[nodiscard]] std::byte* top() const noexcept { return lowest + size; }
  /// Whether an address is in its guard: whoever touched it has overflowed this stack.
  [[nodiscard]] bool guards(const void* address) const noexcept {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= lowest - guard_size && at < lowest;
  }
};

/// Stacks are mapped some at a time (a slab of about 1 MiB), each with a guard of 16 KiB that takes
/// no memory. One that is given back keeps its pages, up to stack_pool_options::kept_bytes in all;
/// beyond, its pages go back to the system at once, and its slab when the whole of it is unused.
///
/// Any thread. Outlives its stacks. One lock for all, held for some instructions.
class [[gnu::visibility("default")]] stack_pool {
public:
  /// Maps nothing until the first stack is wanted.
  explicit stack_pool(const stack_pool_options& how = stack_pool_options());
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  /// The one that fibers take theirs from if they are not told otherwise: process-wide, made when
  /// first asked for, never destroyed. Takes 32 MiB at most while no fiber is alive.
  [[nodiscard]] static stack_pool& of_process();

  /// One of at least `size` bytes. Throws std::system_error if the system refuses, or if it could
  /// not be guarded: see stack_pool_options.
  [[nodiscard]] stack take(std::size_t size);
  /// One that take() of this pool gave, and that nobody runs on any more.
  void give_back(const stack& used) noexcept;

  /// What a pool has, at one moment.
  struct statistics {
    std::size_t live = 0;          ///< stacks that are out
    std::size_t kept_bytes = 0;    ///< of unused stacks that may hold memory
    std::size_t mapped_bytes = 0;  ///< of all slabs, guards included
    /// Stacks whose guards are mappings of their own, in use or not.
    std::size_t guarded_by_mapping = 0;
  };
  /// From any thread.
  [[nodiscard]] statistics look() const noexcept;

private:
  struct state;
  state* state_;
};

}  // namespace skua::inline SKUA_ABI::fiber
