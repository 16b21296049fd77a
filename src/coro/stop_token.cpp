// src/coro/stop_token.cpp: make the watch at the first request, and tell it of an earlier stop.
#include "skua/coro/stop_token.hpp"

#include "coro/stop_watch.hpp"
#include "skua/coro/branch_group.hpp"

namespace skua::inline SKUA_ABI {

stop_watch& context::watch() {
  if (watch_ != nullptr) return *watch_;
  context* const task = is_branch ? &static_cast<branch&>(*this).task() : nullptr;
  stop_watch* const outer = task != nullptr ? &task->watch() : nullptr;
  watch_ = new stop_watch;
  if (word_.set_watched()) tell_stop(*watch_);
  if (outer != nullptr)
    watch_->outer.emplace(outer->source.get_token(), stop_watch::told_by_task(*this, *task));
  return *watch_;
}

std::stop_token current_stop_token::await_resume() const {
  return current_context::await_resume().watch().source.get_token();
}

}  // namespace skua::inline SKUA_ABI
