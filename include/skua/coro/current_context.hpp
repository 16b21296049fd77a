// skua/coro/current_context.hpp: lets a coroutine ask about the context it runs in.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/context.hpp"
#include "skua/coro/promise_base.hpp"
#include "skua/coro/task.hpp"

#include <coroutine>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `context& c = co_await current_context();` Never suspends.
class current_context {
public:
  using skua_awaiter_tag = void;

  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    found_ = static_cast<context*>(to_frame(self).promise().context);
    return false;
  }
  context& await_resume() const noexcept { return *found_; }

private:
  context* found_ = nullptr;
};

/// `if (co_await stop_requested()) ...` for computations without a leaf in them. Never suspends.
class stop_requested : public current_context {
public:
  bool await_resume() const noexcept { return current_context::await_resume().is_to_stop(); }
};

/// Awaits `inner` while a Guard made of the context lives; a stop that unwinds it ends that, too.
template <typename Guard, typename T>
task<T> await_under(task<T> inner) {
  const Guard held(co_await current_context());
  co_return co_await std::move(inner);
}

}  // namespace skua::inline SKUA_ABI
