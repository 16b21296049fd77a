// src/sync/cancel_stop_token.cpp: the token of the watch that a cancellation tells.
#include "skua/sync/cancel_stop_token.hpp"

#include "sync/cancel_watch.hpp"

namespace skua::inline SKUA_ABI {

std::stop_token cancel_stop_token::of(const cancel_token& token) {
  if (token.state_.get() == nullptr) return {};
  return token.state_.get()->watch().source.get_token();
}

}  // namespace skua::inline SKUA_ABI
