// skua/coro/yielded_copy.hpp: keeps a copy of a yielded lvalue while its generator is suspended.
#pragma once

#include "skua/base/abi.hpp"

#include <coroutine>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Suspends as Awaiter does. The copy lives in the generator's frame, and the consumer may move
/// from it.
template <typename T, typename Awaiter>
class yielded_copy : public Awaiter {
public:
  explicit yielded_copy(const T& original) : copy_(original) {}
  yielded_copy(const yielded_copy&) = delete;
  yielded_copy& operator=(const yielded_copy&) = delete;

  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> self) noexcept {
    self.promise().show(copy_);  // here, since only now the awaiter is where it stays
    return Awaiter::await_suspend(self);
  }

private:
  T copy_;
};

}  // namespace skua::inline SKUA_ABI
