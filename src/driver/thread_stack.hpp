// src/driver/thread_stack.hpp: where another thread is, asked by a signal.
#pragma once

#include "skua/base/abi.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace skua::inline SKUA_ABI {

/// Asks one thread after the other for its stack. One thread at a time uses it. Lives until every
/// thread that was asked has ended, or answered.
class thread_stack {
public:
  static constexpr std::size_t depth_max = 48;

  /// Sets the process's handler for `signal`, a real-time signal that nobody else uses. An errno,
  /// or 0. It stays set.
  [[nodiscard]] static int install(int signal) noexcept;

  /// The kernel's number of the calling thread.
  [[nodiscard]] static std::int32_t this_thread() noexcept;

  /// The return addresses of a thread of this process, innermost first; empty if it does not answer
  /// within some milliseconds. Valid until the next call.
  [[nodiscard]] std::span<void* const> of(std::int32_t thread, int signal) noexcept;

private:
  enum class state : std::uint8_t { idle, asked, writing, written };

  static void answer(int signal, void* info, void* context) noexcept;

  std::atomic<state> state_{state::idle};
  std::array<void*, depth_max> frames_{};
  int count_ = 0;
};

}  // namespace skua::inline SKUA_ABI
