// src/driver/fork_guard.hpp: tells a process from a forked child of it, at the cost of a load.
#pragma once

#include "skua/base/abi.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Made by the process that owns something a forked child must not use: a ring, threads. Any thread
/// may ask, with nothing in the way of it: no lock, no system call where the kernel helps.
///
/// A child is seen by whatever way it was made, also without the C library's knowledge, as long as
/// it has memory of its own; so are its own children. A child that shares our memory (vfork, or
/// CLONE_VM) is not told apart: all that it may do is exec.
class fork_guard {
public:
  enum class method : unsigned char {
    wiped_page,  ///< a page that the kernel gives to a child empty; since Linux 4.14
    process_id,  ///< getpid(); mistakes a child whose number is the owner's, in a new namespace
  };

  /// Never fails: if there is no such page, takes process_id. Tests ask for it.
  explicit fork_guard(method preferred = method::wiped_page) noexcept;
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;
  ~fork_guard();

  /// True in every process but the one that made the guard.
  [[nodiscard]] bool in_child() const noexcept {
    if (marker_ == nullptr) [[unlikely]]
      return ::getpid() != owner_pid_;
    // order: none; written before the guard was anyone's, and wiped while the child had no threads.
    return marker_->load(std::memory_order_relaxed) != in_owner;
  }

  /// The process that made the guard, as it called itself then. The same in a child.
  [[nodiscard]] std::int32_t owner_pid() const noexcept { return owner_pid_; }

  [[nodiscard]] method used() const noexcept {
    return marker_ == nullptr ? method::process_id : method::wiped_page;
  }

private:
  // An atomic, so that the compiler does not keep what it read before a fork.
  using marker = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t in_owner = 1;  // what is wiped reads 0

  static marker* wiped_page() noexcept;

  const std::int32_t owner_pid_;
  marker* const marker_;  // at the start of a page of its own; null if process_id is used
};

}  // namespace skua::inline SKUA_ABI
