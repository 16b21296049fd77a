// skua/runtime/task_info.hpp: what can be seen of a live task.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_chain.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace skua::inline SKUA_ABI {

/// One line of runtime::tasks(): true at some moment while it was taken.
struct task_info {
  /// What it is doing.
  enum class state : unsigned char {
    active,   ///< running, queued to run, or just being stopped or looked at by another thread
    waiting,  ///< suspended in a leaf; `chain` tells where
    ended,    ///< has its result; only a handle holds it
  };
  static constexpr std::size_t chain_max = 16;  ///< how many frames are kept

  std::uint64_t id = 0;  ///< as hooks and logs have it; no two tasks of a runtime have the same
  state now = state::active;         ///< at that moment
  bool stop_requested = false;       ///< a stop was asked for
  std::source_location where;        ///< of the spawn
  std::array<char, 24> name_text{};  ///< of name()
  std::uint8_t name_length = 0;      ///< of name(), in bytes
  /// Who awaits whom, innermost first, if waiting: the first of `chain_length`, at most chain_max.
  std::array<await_frame, chain_max> chain{};
  std::size_t chain_length = 0;  ///< how many frames there are, also if fewer are kept

  /// What named() gave it; empty if nobody did.
  [[nodiscard]] std::string_view name() const noexcept { return {name_text.data(), name_length}; }
};

}  // namespace skua::inline SKUA_ABI
