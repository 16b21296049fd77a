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
  enum class state : unsigned char {
    active,   ///< running, queued to run, or just being stopped or looked at by another thread
    waiting,  ///< suspended in a leaf; `chain` tells where
    ended,    ///< has its result; only a handle holds it
  };
  static constexpr std::size_t chain_max = 16;

  std::uint64_t id = 0;
  state now = state::active;
  bool stop_requested = false;
  std::source_location where;  ///< of the spawn
  std::array<char, 24> name_text{};
  std::uint8_t name_length = 0;
  /// Who awaits whom, innermost first, if waiting: the first of `chain_length`, at most chain_max.
  std::array<await_frame, chain_max> chain{};
  std::size_t chain_length = 0;

  [[nodiscard]] std::string_view name() const noexcept { return {name_text.data(), name_length}; }
};

}  // namespace skua::inline SKUA_ABI
