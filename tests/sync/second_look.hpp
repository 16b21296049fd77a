// tests/sync/second_look.hpp: a wait that finds out under the lock that it need not wait.
#pragma once

#include "skua/coro/leaf.hpp"

#include <coroutine>

namespace skua_test {

/// `co_await second_look(wait)` for an awaiter with a name: leaves out its first look, as if what
/// it waits for had come right after that.
template <typename Wait>
class second_look {
public:
  using skua_awaiter_tag = void;

  explicit second_look(Wait& of) noexcept : of_(of) {}

  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    of_.skua::leaf::await_suspend(self);
  }
  decltype(auto) await_resume() { return of_.await_resume(); }

private:
  Wait& of_;
};

}  // namespace skua_test
