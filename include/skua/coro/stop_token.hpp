// skua/coro/stop_token.hpp: the current task's stop as a std::stop_token, for code that takes one.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/current_context.hpp"

#include <stop_token>

namespace skua::inline SKUA_ABI {

/// `std::stop_token token = co_await current_stop_token();` Never suspends. The token may be given
/// to other threads and may outlive the task. Callbacks run on the thread that asks for the stop,
/// or where a shield that hid it ends. A shield keeps a new stop from the token; a token that was
/// told before stays stopped under it. Allocates once per context; throws std::bad_alloc.
class current_stop_token : public current_context {
public:
  [[gnu::visibility("default")]] std::stop_token await_resume() const;
};

}  // namespace skua::inline SKUA_ABI
