// src/coro/context.cpp: run the frames, park, cancel, unwind.
#include "skua/coro/context.hpp"

#include "coro/drive_turn.hpp"
#include "coro/stop_watch.hpp"
#include "skua/base/check.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

context::~context() {
  check(root_ == nullptr || now == phase::held, "a context ends before it is destroyed");
  check(word_.at_rest(), "a context is destroyed while nothing waits in it");
  if (root_ != nullptr) root_.destroy();  // held, but never run
  delete watch_;
}

void context::hold(frame_handle root) noexcept {
  check(root_ == nullptr, "a context holds one root");
  root_ = root;
  promise_base& promise = root_.promise();
  promise.continuation = {};
  promise.context = this;
  promise.owner = &root_;
  resume_point = root_;
}

[[gnu::noinline]] void context::forget_watch() noexcept {
  delete watch_;
  watch_ = nullptr;
}

void context::reuse(executor& home) noexcept {
  check(root_ == nullptr, "a context is used again after it has ended");
  if (watch_ != nullptr) [[unlikely]]
    forget_watch();
  shields_ = 0;
  unconstrained = 0;
  boundary = nullptr;
  now = phase::held;
  home_ = &home;
  word_.reset();
}

progress context::drive() noexcept {
  const progress how = drive_turn();
  if (how != progress::gives_way) return how;
  home_->defer(*this);  // from here on another thread may run it
  return progress::parked;
}

// The wait that was to begin is over, or a stop was asked for.
[[gnu::noinline]] progress context::drive_ready(publication how) noexcept {
  if (source_holds_on(how)) return progress::parked;  // *this belongs to others now
  const bool unwinds = word_.take_unwind();
  if (!unwinds && has_to_give_way()) return progress::gives_way;
  return drive_on(unwinds);
}

[[gnu::noinline]] progress context::drive_on(bool unwinds) noexcept {
  for (;;) {
    if (unwinds && !unwind_to_boundary()) return progress::stopped;
    run_frames();
    if (now == phase::ended) return progress::returned;
    if (now <= phase::stepped) return progress::gives_way;
    unwinds = now == phase::stopped;
    if (unwinds) continue;
    if (waits()) return progress::parked;  // *this belongs to others now
    unwinds = word_.take_unwind();
    if (!unwinds && has_to_give_way()) return progress::gives_way;
  }
}

// False if the wait is over already.
bool context::waits() noexcept {
  const auto published = word_.publish();
  return published == publication::parked || source_holds_on(published);
}

// If a stop came between arming and here, we cancel on our own. True if that leaves it to the
// source.
bool context::source_holds_on(publication how) noexcept {
  return how == publication::cancel && !word_.settle(waiting_for_->cancel());
}

// It was ready at once, perhaps once too often. Not inlined: that would cost every turn some
// registers.
[[gnu::noinline]] bool context::has_to_give_way() noexcept {
  return !spend_budget();
}

// As if it had given way: there, a stop that was asked for is what counts.
progress context::drive_or_unwind() noexcept {
  if (now == phase::waiting) {
    if (!waiting_for_->gives_back()) return drive();
    static_cast<void>(word_.take_unwind());
    now = phase::yielded;
  }
  return drive();
}

// What the turn before would have done, had it not been used up.
[[gnu::noinline]] progress context::drive_postponed() noexcept {
  if (word_.stop_visible()) {
    now = phase::yielded;
  } else {
    waiting_for_->arm_in_spite_of_stop(resume_point);
    waiting_for_->start();
    if (waits()) return progress::parked;  // *this belongs to others now
  }
  return drive_turn();
}

// From the leaf outwards, so that destructors run innermost first and the stack stays flat. A
// destructor that throws here ends the program: this function is noexcept.
[[gnu::noinline]] bool context::unwind_to_boundary() noexcept {
  frame_handle frame = resume_point;
  while (frame != nullptr) {
    promise_base& promise = frame.promise();
    const frame_handle continuation = promise.continuation;
    const stop_boundary* innermost = boundary;
    while (innermost != nullptr && innermost->child == nullptr) innermost = innermost->outer;
    const bool at_boundary = innermost != nullptr && innermost->child == frame;
    check(*promise.owner == frame, "a frame is owned by the slot its promise names");
    *promise.owner = {};
    promise.give_up();
    frame.destroy();
    if (at_boundary) {
      boundary = boundary->outer;
      resume_point = continuation;
      return true;
    }
    frame = continuation;
  }
  return false;
}

frame_handle context::release_root() noexcept {
  check(now == phase::ended, "a root is released after it has returned");
  const frame_handle root = root_;
  root_ = {};
  return root;
}

void context::complete(std::uint32_t wait, bool cancelled) noexcept {
  if (word_.complete(wait, cancelled)) home_->schedule(*this);
}

bool context::request_stop() noexcept {
  const auto answer = word_.request_stop();
  // Told before the leaf is cancelled: once the context can be scheduled it may end and be gone.
  if (answer.tell) tell_stop(*watch_);
  if (answer.cancel && word_.settle(waiting_for_->cancel())) home_->schedule(*this);
  return answer.first;
}

std::size_t context::look_at_chain(await_frame* out, std::size_t room) noexcept {
  if (!word_.hold_still()) return 0;
  const std::size_t length = walk_await_chain(*this, out, room);
  using let_go_answer = leaf_word<std_atomics>::let_go_answer;
  switch (word_.let_go()) {
    case let_go_answer::parked:
      break;
    case let_go_answer::schedule:
      home_->schedule(*this);
      break;
    case let_go_answer::cancel:  // for whoever asked it to stop meanwhile
      if (word_.settle(waiting_for_->cancel())) home_->schedule(*this);
      break;
  }
  return length;
}

void context::set_shield(bool on) noexcept {
  shields_ = on ? shields_ + 1 : shields_ - 1;
  const bool outermost = shields_ == (on ? 1U : 0U);
  if (outermost && word_.set_shield(on)) tell_stop(*watch_);
}

bool leaf::arm(frame_handle self) noexcept {
  auto& running = static_cast<context&>(*self.promise().context);
  if (running.stop_requested()) {
    running.resume_point = self;
    running.now = phase::stopped;
    return false;
  }
  arm_in_spite_of_stop(self);
  return true;
}

void leaf::arm_in_spite_of_stop(frame_handle self) noexcept {
  auto& running = static_cast<context&>(*self.promise().context);
  running.resume_point = self;
  waiting_ = &running;
  wait_number_ = running.word_.wait_number();
  running.waiting_for_ = this;
  running.now = phase::waiting;
}

void leaf::postpone(frame_handle self) noexcept {
  auto& running = static_cast<context&>(*self.promise().context);
  running.resume_point = self;
  running.waiting_for_ = this;
  running.now = running.stop_requested() ? phase::stopped : phase::postponed;
}

void wait_ticket::complete() const noexcept {
  whose_->complete(number_, false);
}

void wait_ticket::complete_cancelled() const noexcept {
  whose_->complete(number_, true);
}

}  // namespace skua::inline SKUA_ABI
