// src/coro/stop_watch.hpp: the standard stop source behind a context's stop token.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/context.hpp"

#include <optional>
#include <stop_token>

namespace skua::inline SKUA_ABI {

struct stop_watch {
  /// Tells a branch when its task is asked to stop: it may be computing in the task's turn, which
  /// then cannot tell it.
  struct told_by_task {
    context& branch;
    const context& task;
    void operator()() const noexcept {
      if (task.stop_requested()) branch.request_stop();  // not if a shield hides it
    }
  };

  std::stop_source source;
  std::optional<std::stop_callback<told_by_task>> outer;
};

/// Runs the token's callbacks on the calling thread.
inline void tell_stop(stop_watch& watch) noexcept {
  watch.source.request_stop();
}

}  // namespace skua::inline SKUA_ABI
