// src/sync/news_core.cpp: all who wait are told; the last to let go frees it.
#include "skua/sync/news_core.hpp"

namespace skua::inline SKUA_ABI {

void news_core::add_sender() noexcept {
  const short_hold hold(receiving_.lock());
  ++senders_;
  add_reference();
}

void news_core::add_receiver_now() noexcept {
  const short_hold hold(receiving_.lock());
  add_receiver();
}

void news_core::drop_sender() noexcept {
  if (is_alone()) return end();
  lock();
  unlock_and_drop_sender();
}

void news_core::drop_receiver() noexcept {
  if (is_alone()) return end();
  lock();
  unlock_and_drop_receiver();
}

bool news_core::is_closed_now() noexcept {
  const short_hold hold(receiving_.lock());
  return is_closed();
}

bool news_core::has_senders_now() noexcept {
  const short_hold hold(receiving_.lock());
  return has_senders();
}

void news_core::join_receiving(waiter& who) noexcept {
  add_reference();
  receiving_.join(who);
}

void news_core::join_watching(waiter& who) noexcept {
  add_reference();
  watching_.join(who);
}

void news_core::unlock_and_tell() noexcept {
  wait_line::granted told;
  receiving_.grant_all(told);
  if (is_closed()) watching_.grant_all(told);
  unlock();
  told.complete();
}

// Who waits is a reference: if it was the last there is nobody to be told.
void news_core::unlock_and_drop_sender() noexcept {
  set_references(references() - 1);
  if (--senders_ > 0 || receiving_.empty()) return unlock_and_end();
  tell_all(receiving_);
}

void news_core::unlock_and_drop_receiver() noexcept {
  set_references(references() - 1);
  if (--receivers_ > 0 || watching_.empty()) return unlock_and_end();
  tell_all(watching_);
}

// Most often that is one.
void news_core::tell_all(wait_line& which) noexcept {
  waiter& first = which.grant_first();
  if (which.empty()) {
    unlock();
    return first.complete();
  }
  wait_line::granted told;
  wait_line::grant(first, told);
  which.grant_all(told);
  unlock();
  told.complete();
}

void news_core::unlock_and_release() noexcept {
  set_references(references() - 1);
  unlock_and_end();
}

void news_core::unlock_and_end() noexcept {
  const bool last = references() == 0;
  unlock();
  if (last) delete this;
}

// --- waits

void news_wait::start() noexcept {
  core_.join_receiving(*this);
  core_.unlock();
}

cancel_answer news_wait::cancel() noexcept {
  core_.lock();
  if (!core_.leave(*this)) {
    core_.unlock();
    return cancel_answer::pending;
  }
  core_.unlock_and_release();
  return cancel_answer::detached;
}

void news_wait::give_back() noexcept {
  core_.lock();
  core_.unlock_and_release();
}

void nobody_listens_wait::start() noexcept {
  core_.lock();
  if (!core_.is_closed()) {
    core_.join_watching(*this);
    return core_.unlock();
  }
  grant();
  core_.add_reference();
  core_.unlock();
  complete();
}

cancel_answer nobody_listens_wait::cancel() noexcept {
  core_.lock();
  if (!core_.leave(*this)) {
    core_.unlock();
    return cancel_answer::pending;
  }
  core_.unlock_and_release();
  return cancel_answer::detached;
}

void nobody_listens_wait::end() noexcept {
  core_.lock();
  core_.unlock_and_release();
}

}  // namespace skua::inline SKUA_ABI
