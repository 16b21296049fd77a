// src/runtime/scope.cpp: wait for the children, and remember what failed.
#include "skua/runtime/scope.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

// --- a child

scope_member::scope_member(scope& of) noexcept : of_(&of) {
  const short_hold hold(of.children_.lock());
  of.children_.add();
}

// The task may go on, and the scope be gone, once the lock is free.
scope_member::~scope_member() {
  if (of_ == nullptr) return;
  bool tell = false;
  {
    const short_hold hold(of_->children_.lock());
    of_->children_.remove(*this);
    tell = of_->children_.running() == 0 && of_->awaited_;
  }
  if (tell) of_->end_.complete();
}

bool scope_member::begins(context& self) noexcept {
  return of_->children_.begin(*this, self);
}

void scope_member::fail(std::exception_ptr why) noexcept {
  of_->fail(std::move(why));
}

// --- the scope

const char* scope_failed::what() const noexcept {
  return "one or more tasks of a scope have failed";
}

std::size_t scope::running() noexcept {
  const short_hold hold(children_.lock());
  return children_.running();
}

void scope::fail(std::exception_ptr why) noexcept {
  const bool stops = policy_ == scope_policy::stop_at_failure;
  try {
    const short_hold hold(children_.lock());
    if (first_ == nullptr) first_ = why;
    if (!stops) causes_.push_back(std::move(why));
  } catch (...) {  // no memory to remember it: what came first is there
  }
  if (!stops) return;
  stop();
  body_->request_stop();
}

void scope::rethrow() {
  if (first_ == nullptr) return;
  if (causes_.empty()) std::rethrow_exception(first_);
  throw scope_failed(std::move(causes_));
}

void scope::end_wait::start() noexcept {
  bool over = false;
  {
    const short_hold hold(of_.children_.lock());
    over = of_.children_.running() == 0;
    of_.awaited_ = !over;
  }
  if (over) complete();
}

cancel_answer scope::end_wait::cancel() noexcept {
  of_.stopped_by_task_ = true;
  of_.stop();
  return cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
