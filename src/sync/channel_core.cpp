// src/sync/channel_core.cpp: promises are given in the order of asking, and passed on if unused.
#include "skua/sync/channel_core.hpp"

#include "skua/coro/yield.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

// --- handles

void channel_core::add_sender() noexcept {
  const short_hold hold(receiving_.lock());
  ++senders_;
  ++references_;
}

void channel_core::add_receiver() noexcept {
  const short_hold hold(receiving_.lock());
  ++receivers_;
  ++references_;
}

void channel_core::drop_sender() noexcept {
  lock();
  --senders_;
  unlock_and_release();
}

// The messages may hold anything, handles of this channel included: they end outside the lock, and
// before the reference does.
void channel_core::drop_receiver() noexcept {
  lock();
  if (--receivers_ == 0) {
    refuse();
    update_limit();
    if (arrivals_ != nullptr) count_arrivals();
    stored_ = 0;
    unlock();
    destroy_messages();
    lock();
  }
  unlock_and_release();
}

void channel_core::close() noexcept {
  lock();
  refuse();
  unlock_and_serve();
}

void channel_core::refuse() noexcept {
  closed_ = true;
  if (arrivals_ == nullptr) return;
  const short_hold hold(arrivals_->lock);
  arrivals_->closed = true;
}

// One number, so that who sends has one question. Before the lock is given back, if the channel was
// closed or somebody has joined or left the line of a rendezvous.
void channel_core::update_limit() noexcept {
  if (closed_)
    limit_ = 0;
  else if (how_ == kind::rendezvous)
    limit_ = receiving_.empty() ? 0 : places_;
}

bool channel_core::is_closed_now() noexcept {
  const short_hold hold(receiving_.lock());
  return closed_;
}

bool channel_core::is_over_now() noexcept {
  const short_hold hold(receiving_.lock());
  return is_over();
}

std::size_t channel_core::count_now() noexcept {
  const short_hold hold(receiving_.lock());
  if (arrivals_ == nullptr) return stored_;
  const short_hold look(arrivals_->lock);
  return stored_ + arrivals_->count;
}

// --- arrivals

// True if there is one now that is promised to nobody.
bool channel_core::count_arrivals() noexcept {
  const short_hold hold(arrivals_->lock);
  stored_ += std::exchange(arrivals_->count, 0);
  return has_message();
}

// For one who has joined the line. False if there are some already, and it has to be served.
bool channel_core::await_arrivals() noexcept {
  const short_hold hold(arrivals_->lock);
  arrivals_->awaited = true;
  return arrivals_->count == 0;
}

// Nothing arrives meanwhile: what does so afterwards, while somebody is still in line, has a sender
// who comes to serve.
waiter* channel_core::serve_arrivals(wait_line::granted& to) noexcept {
  const short_hold hold(arrivals_->lock);
  stored_ += std::exchange(arrivals_->count, 0);
  waiter* const one = serve(to);
  arrivals_->awaited = !receiving_.empty();
  return one;
}

// --- promises

void channel_core::promise_message(channel_wait& to) noexcept {
  to.grant();
  to.promised_ = true;
  ++promised_;
  ++references_;
}

void channel_core::promise_room(channel_wait& to) noexcept {
  to.grant();
  to.promised_ = true;
  promise_room();
}

void channel_core::promise_room() noexcept {
  ++reserved_;
  ++references_;
}

void channel_core::join(line which, channel_wait& who) noexcept {
  who.promised_ = false;
  care_ |= somebody_waits;
  ++references_;
  switch (which) {
    case line::receiving:
      return receiving_.join(who);
    case line::sending:
      return sending_.join(who);
    case line::watching:
      return watching_.join(who);
  }
}

bool channel_core::leave(channel_wait& who) noexcept {
  return receiving_.leave(who);  // whichever line it is in
}

// Who is in line has a reference already, which goes with the grant.
void channel_core::serve_all(wait_line::granted& to) noexcept {
  while (!receiving_.empty() && has_message()) {
    static_cast<channel_wait*>(receiving_.first())->promised_ = true;
    ++promised_;
    receiving_.grant_first(to);
  }
  update_limit();
  while (!sending_.empty() && has_room()) {
    static_cast<channel_wait*>(sending_.first())->promised_ = true;
    ++reserved_;
    sending_.grant_first(to);
  }
  if (closed_) {
    sending_.grant_all(to);
    watching_.grant_all(to);
  }
  if (!receiving_.empty() && is_over()) receiving_.grant_all(to);
  if (receiving_.empty() && sending_.empty()) care_ &= unused_memory;
}

// Most often a message has come for one who waits, or room for one, and nobody else hears of it.
waiter* channel_core::serve_one() noexcept {
  if (closed_ || how_ == kind::rendezvous) return nullptr;
  const bool to_receiver = sending_.empty();
  if (to_receiver ? unpromised() != 1 : stored_ + reserved_ + 1 != limit_) return nullptr;
  wait_line& whose = to_receiver ? receiving_ : sending_;
  if (whose.empty() || !(to_receiver || receiving_.empty())) return nullptr;
  ++(to_receiver ? promised_ : reserved_);
  static_cast<channel_wait*>(whose.first())->promised_ = true;
  waiter& one = whose.grant_first();
  if (whose.empty()) care_ &= unused_memory;
  return &one;
}

// Gives back the one who is to be told alone, if there is one, or adds them to `to`.
waiter* channel_core::serve(wait_line::granted& to) noexcept {
  waiter* const one = serve_one();
  if (one == nullptr) serve_all(to);
  return one;
}

void channel_core::unlock_and_serve() noexcept {
  if (waiter* const alone = arrivals_ == nullptr ? serve_one() : nullptr) {
    unlock();
    return alone->complete();
  }
  wait_line::granted ready;
  waiter* one = nullptr;
  if (arrivals_ == nullptr)
    serve_all(ready);
  else
    one = serve_arrivals(ready);
  unlock();
  if (one != nullptr) return one->complete();
  ready.complete();
}

// Who is granted something is a reference, too: if this was the last nobody is. Most often nobody
// is in line; those who watch wait for the end only.
void channel_core::unlock_and_release() noexcept {
  const bool last = --references_ == 0;
  if ((care_ & somebody_waits) != 0 || closed_)
    unlock_and_serve();
  else
    unlock();
  if (last) delete this;
}

void channel_core::unlock_in_line() noexcept {
  if (how_ == kind::rendezvous || closed_ || senders_ == 0 ||
      (arrivals_ != nullptr && !await_arrivals()))
    unlock_and_serve();
  else
    unlock();
}

// --- waits

cancel_answer channel_wait::cancel() noexcept {
  core_.lock();
  if (!core_.leave(*this)) {
    core_.unlock();
    return cancel_answer::pending;
  }
  core_.unlock_and_release();
  return cancel_answer::detached;
}

// A promise goes with it if it gives way; if it is stopped meanwhile it is given back.
void message_wait::wait(frame_handle self) noexcept {
  if (core().has_message()) {
    core().promise_message(*this);
    core().unlock();
    return give_way(self);
  }
  if (arm(self))
    start();
  else
    core().unlock();
}

// Under the lock, which it gives back.
void message_wait::start() noexcept {
  core().join(channel_core::line::receiving, *this);
  core().unlock_in_line();
}

void message_wait::give_back() noexcept {
  core().lock();
  if (has_promise()) core().end_promise_of_messages(1);
  core().unlock_and_release();
}

void room_wait::wait(frame_handle self) noexcept {
  if (core().has_room()) {
    core().promise_room(*this);
    core().unlock();
    return give_way(self);
  }
  if (arm(self))
    start();
  else
    core().unlock();
}

// Under the lock, which it gives back.
void room_wait::start() noexcept {
  core().join(channel_core::line::sending, *this);
  core().unlock_in_line();
}

void room_wait::give_back() noexcept {
  core().lock();
  if (has_promise()) core().end_promise_of_room();
  core().unlock_and_release();
}

void closed_wait::start() noexcept {
  core().lock();
  core().join(channel_core::line::watching, *this);
  core().unlock_and_serve();
}

void closed_wait::end() noexcept {
  core().lock();
  core().unlock_and_release();
}

}  // namespace skua::inline SKUA_ABI
