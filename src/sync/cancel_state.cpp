// src/sync/cancel_state.cpp: a tree under one lock, and who is told when part of it is cancelled.
#include "skua/sync/cancel_state.hpp"

#include "skua/base/check.hpp"
#include "sync/cancel_watch.hpp"

#include <memory>

namespace skua::inline SKUA_ABI {

cancel_state* cancel_state::make(cancel_state* parent) {
  auto* const made = new cancel_state(parent);
  if (parent == nullptr) return made;
  parent->add_reference();
  const short_hold hold(made->root_.lock_);
  parent->children_.push_back(*made);
  // order: none; nobody else knows it yet.
  if (parent->is_cancelled()) made->cancelled_.store(true, std::memory_order_relaxed);
  return made;
}

cancel_state::~cancel_state() {
  delete watch_;
}

// A loop, not a recursion: a chain of parents may be long.
void cancel_state::release() noexcept {
  for (cancel_state* one = this; one != nullptr;) {
    // order: [cancel.release] release: all uses. [cancel.release] acquire: by the last,
    // everybody's.
    if (one->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    cancel_state* const parent = one->parent_;
    if (parent != nullptr) {
      const short_hold hold(one->root_.lock_);
      intrusive_list<cancel_state>::remove(*one);
    }
    delete one;
    one = parent;
  }
}

// False if the last one is gone.
bool cancel_state::try_add_reference() noexcept {
  // order: none; as in add_reference().
  std::uint32_t seen = references_.load(std::memory_order_relaxed);
  while (seen != 0)
    // order: none; as above.
    if (references_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return true;
  return false;
}

// Who is cancelled has only cancelled ones beneath it, so those need no second visit. Nodes whose
// last reference is gone may still be linked: they wait for the lock, and nobody waits for them.
bool cancel_state::cancel() noexcept {
  wait_line::granted ready;
  cancel_state* to_tell = nullptr;
  {
    const short_hold hold(root_.lock_);
    if (is_cancelled()) return false;
    cancel_state* to_visit = this;
    next_ = nullptr;
    while (to_visit != nullptr) {
      cancel_state& one = *to_visit;
      to_visit = one.next_;
      // order: [cancel.flag] release: what we did before, to whoever sees it.
      one.cancelled_.store(true, std::memory_order_release);
      {
        const short_hold line(one.waiting_.lock());
        one.waiting_.grant_all(ready);
      }
      for (cancel_state& child : one.children_) {
        if (child.is_cancelled()) continue;
        child.next_ = to_visit;
        to_visit = &child;
      }
      if (one.watch_ == nullptr || !one.try_add_reference()) continue;
      one.next_ = to_tell;
      to_tell = &one;
    }
  }
  ready.complete();
  while (to_tell != nullptr) {
    cancel_state& one = *to_tell;
    to_tell = one.next_;
    one.watch_->source.request_stop();
    one.release();
  }
  return true;
}

cancel_watch& cancel_state::watch() {
  auto made = std::make_unique<cancel_watch>();
  bool tell = false;
  {
    const short_hold hold(root_.lock_);
    if (watch_ == nullptr) {
      watch_ = made.release();
      tell = is_cancelled();
    }
  }
  if (tell) watch_->source.request_stop();
  return *watch_;
}

}  // namespace skua::inline SKUA_ABI
