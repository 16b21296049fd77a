// src/coro/stop_token.cpp: make the watch at the first request, and tell it of an earlier stop.
#include "skua/coro/stop_token.hpp"

#include "coro/stop_watch.hpp"

namespace skua::inline SKUA_ABI {

stop_watch& context::watch() {
  if (watch_ == nullptr) {
    watch_ = new stop_watch;
    if (word_.set_watched()) tell_stop(*watch_);
  }
  return *watch_;
}

std::stop_token current_stop_token::await_resume() const {
  return current_context::await_resume().watch().source.get_token();
}

}  // namespace skua::inline SKUA_ABI
