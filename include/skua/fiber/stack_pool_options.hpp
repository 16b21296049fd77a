// skua/fiber/stack_pool_options.hpp: how much a pool of stacks keeps, and how it guards them.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI::fiber {

/// What is not said is as it is best for most: 32 MiB are kept.
class stack_pool_options {
public:
  /// Memory of stacks that nobody uses, kept for the next fibers. What is more goes back to the
  /// system at once.
  stack_pool_options& kept_bytes(std::size_t most) noexcept {
    kept_bytes_ = most;
    return *this;
  }

  /// Linux before 6.13 can guard a stack only by a mapping of its own, and two of those 65,530 that
  /// a process may have (vm.max_map_count) go with each stack. So a pool guards at most this many
  /// that way; whoever wants more at once gets an error, or see unguarded_beyond(). Stacks are made
  /// several at a time, up to a MiB of them, and are guarded together or not at all: it may be some
  /// fewer, and none if the number is less than that. Newer kernels guard every stack, however many
  /// there are.
  stack_pool_options& guarded_by_mapping(std::size_t most) noexcept {
    guarded_by_mapping_ = most;
    return *this;
  }

  /// Allows stacks without a guard beyond that number: an overflow there is not noticed, and
  /// destroys what another fiber has. Off by default.
  stack_pool_options& unguarded_beyond(bool allow) noexcept {
    unguarded_beyond_ = allow;
    return *this;
  }

  /// Guards as on an old kernel, for tests.
  stack_pool_options& as_on_old_kernels(bool yes) noexcept {
    as_on_old_kernels_ = yes;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }
  [[nodiscard]] std::size_t guarded_by_mapping() const noexcept { return guarded_by_mapping_; }
  [[nodiscard]] bool unguarded_beyond() const noexcept { return unguarded_beyond_; }
  [[nodiscard]] bool as_on_old_kernels() const noexcept { return as_on_old_kernels_; }
  ///@}

private:
  std::size_t kept_bytes_ = std::size_t{32} * 1024 * 1024;
  std::size_t guarded_by_mapping_ = 16'384;
  bool unguarded_beyond_ = false;
  bool as_on_old_kernels_ = false;
};

}  // namespace skua::inline SKUA_ABI::fiber
