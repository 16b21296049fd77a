// src/sync/group_state.cpp: let tasks in, keep their results, and hand these out.
#include "skua/sync/group_state.hpp"

#include "skua/base/check.hpp"

namespace skua::inline SKUA_ABI {

group_state::group_state(std::size_t limit) noexcept : limit_(limit) {
  check(limit > 0, "a task_group lets at least one task run at a time");
}

group_state::~group_state() {
  while (group_result* const one = results_.pop_front()) delete one;
}

void group_state::release() noexcept {
  bool last = false;
  {
    const short_hold hold(tasks_.lock());
    last = --references_ == 0;
  }
  if (last) delete this;
}

void group_state::count_in(group_result& of) noexcept {
  const short_hold hold(tasks_.lock());
  of.counted_ = true;
  ++references_;
  tasks_.add();
}

void group_state::count_out(group_result& of) noexcept {
  wait_line::granted ready;
  {
    const short_hold hold(tasks_.lock());
    of.counted_ = false;
    --references_;
    tasks_.take_back();
    settle(ready);
  }
  ready.complete();
}

std::size_t group_state::size() noexcept {
  const short_hold hold(tasks_.lock());
  return size_under_lock();
}

group_result* group_state::take_oldest() noexcept {
  --ended_;
  return results_.pop_front();
}

group_result* group_state::try_take() noexcept {
  wait_line::granted ready;
  group_result* mine = nullptr;
  {
    const short_hold hold(tasks_.lock());
    if (ended_ > promised_) mine = take_oldest();
    settle(ready);  // it may have been the last
  }
  ready.complete();
  return mine;
}

// Under the lock. Waiters get a result each while there are some, and an answer when nothing can
// come any more: what is promised to one may still go to another.
void group_state::settle(wait_line::granted& ready) noexcept {
  while (!joiners_.empty()) {
    const bool has_one = ended_ > promised_;
    if (!has_one && size_under_lock() > 0) return;
    if (has_one) {
      static_cast<next_wait*>(joiners_.first())->promised_ = true;
      ++promised_;
    }
    joiners_.grant_first(ready);
  }
}

// Under the lock, by one that is inside and goes, or that was let in and will not come.
void group_state::let_next_in(wait_line::granted& ready) noexcept {
  if (entry_.empty())
    --inside_;
  else
    entry_.grant_first(ready);
}

void group_state::leave(member& one) noexcept {
  wait_line::granted ready;
  bool last = false;
  {
    const short_hold hold(tasks_.lock());
    results_.push_back(*one.result_);
    ++ended_;
    tasks_.remove(one);
    if (one.inside_) let_next_in(ready);
    settle(ready);
    last = --references_ == 0;
  }
  ready.complete();
  if (last) delete this;
}

// --- a task

group_state::member::~member() {
  if (of_ == nullptr) return;
  if (result_->counted_)
    of_->leave(*this);
  else
    delete result_;
}

group_state::entry_wait group_state::member::enter() noexcept {
  return entry_wait(*of_, *this);
}

// --- entry

group_state::entry_wait::~entry_wait() {
  if (!is_granted()) return;
  wait_line::granted ready;
  {
    const short_hold hold(of_.tasks_.lock());
    of_.let_next_in(ready);
  }
  ready.complete();
}

bool group_state::entry_wait::try_enter() noexcept {
  const short_hold hold(of_.tasks_.lock());
  if (of_.inside_ == of_.limit_) return false;
  ++of_.inside_;
  grant();
  return true;
}

void group_state::entry_wait::start() noexcept {
  {
    const short_hold hold(of_.tasks_.lock());
    if (of_.inside_ == of_.limit_) return of_.entry_.join(*this);
    ++of_.inside_;
    grant();
  }
  complete();
}

cancel_answer group_state::entry_wait::cancel() noexcept {
  const short_hold hold(of_.tasks_.lock());
  return of_.entry_.leave(*this) ? cancel_answer::detached : cancel_answer::pending;
}

// --- the next result

group_state::next_wait::~next_wait() {
  if (!is_granted() || !promised_) return;
  wait_line::granted ready;
  {
    const short_hold hold(of_.tasks_.lock());
    --of_.promised_;
    of_.settle(ready);
  }
  ready.complete();
}

group_result* group_state::next_wait::take_result() noexcept {
  take();
  if (!promised_) return nullptr;
  wait_line::granted ready;
  group_result* mine = nullptr;
  {
    const short_hold hold(of_.tasks_.lock());
    promised_ = false;
    --of_.promised_;
    mine = of_.take_oldest();
    of_.settle(ready);  // it may have been the last
  }
  ready.complete();
  return mine;
}

// Not past those who wait already.
bool group_state::next_wait::try_next() noexcept {
  const short_hold hold(of_.tasks_.lock());
  promised_ = of_.ended_ > of_.promised_;
  if (!promised_ && of_.size_under_lock() > 0) return false;
  if (promised_) ++of_.promised_;
  grant();
  return true;
}

void group_state::next_wait::start() noexcept {
  wait_line::granted ready;
  {
    const short_hold hold(of_.tasks_.lock());
    of_.joiners_.join(*this);
    of_.settle(ready);
  }
  ready.complete();
}

cancel_answer group_state::next_wait::cancel() noexcept {
  const short_hold hold(of_.tasks_.lock());
  return of_.joiners_.leave(*this) ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
