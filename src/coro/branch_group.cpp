// src/coro/branch_group.cpp: run what is ready; the first to decide stops the others.
#include "skua/coro/branch_group.hpp"

#include "coro/drive_turn.hpp"
#include "skua/base/check.hpp"

#include <cstdint>
#include <utility>

namespace skua::inline SKUA_ABI {
// --- a branch

branch::branch(branch_group& of, frame_handle root) noexcept : side_chain(run, of, root), of_(of) {
  is_branch = true;
}

context& branch::task() const noexcept {
  return of_.root_;
}

bool context_base::spend_budget_of_task() noexcept {
  return static_cast<branch&>(*this).task().spend_budget();
}

bool context::task_is_to_stop() const noexcept {
  return shields_ == 0 && static_cast<const branch&>(*this).task().is_to_stop();
}

// Once nobody wants it, a stop beats a value: what the branch waited for is given back by its leaf.
void branch::run(work& item) noexcept {
  auto& self = static_cast<branch&>(item);
  if (self.of_.nobody_wants(self)) [[unlikely]]
    return self.went(self.drive_or_unwind());
  const progress how = self.drive_turn();
  if (how == progress::gives_way) return self.of_.defer(self);
  self.went(how);
}

inline void branch::went(progress how) noexcept {
  if (has_ended(how)) of_.ended(*this);
}

// --- the group

branch_group::~branch_group() {
  check(running_ == 0, "a task goes on after its branches have ended");
}

void branch_group::start(branch& one) noexcept {
  live_.push_back(one);
  ++running_;
  own_.push_back(one);
  if (decided_) one.request_stop();  // it comes too late
}

/// Changes with every wait and step, and with whatever was ready at once.
std::uint32_t branch_group::count_of(const context& one) noexcept {
  return one.wait_number() + one.steps - (one.in_turn == nullptr ? 0 : one.in_turn->budget);
}

// A number that changes from race to race; those that follow each other are spread evenly by the
// golden ratio. A chain that has just begun has waited for nothing yet, but what it is beside of
// has. From a chain that runs by itself outwards the turns are other threads'.
void branch_group::start_in_turn(branch* const* all, std::size_t count) noexcept {
  constexpr std::uint32_t golden = 0x9E3779B9;
  std::uint32_t number = count_of(root_);
  bool in_this_turn = true;
  for (const context* one = &root_; one->is_side_chain;) {
    in_this_turn = in_this_turn && one->is_branch;
    one = &static_cast<const side_chain*>(one)->task();
    number += in_this_turn ? count_of(*one) : one->wait_number();
  }
  const std::uint32_t spread = number * golden;
  const auto first = static_cast<std::size_t>((std::uint64_t{spread} * count) >> 32);
  for (std::size_t i = 0; i < count; ++i) start(*all[(first + i) % count]);
}

void branch_group::start_in_turn(std::initializer_list<branch*> all) noexcept {
  start_in_turn(all.begin(), all.size());
}

void branch_group::ended(branch& one) noexcept {
  intrusive_list<branch>::remove(one);
  --running_;
  const bool failed = one.failed();
  if (!failed) has_value(one);
  if (decided_ || policy_ == policy::wait_for_all) return;
  if (policy_ == policy::stop_at_failure && !failed) return;
  decide(one);
}

void branch_group::decide(branch& one) noexcept {
  decided_ = true;
  decisive_ = &one;
  for (branch& other : live_)
    if (&other != &one) other.request_stop();
}

// A combinator has its value before it can give it: it waits for the others to end, and gives way
// meanwhile. If it is all that a branch of a race consists of, that branch has won there and then.
// Otherwise another one could take something, too, and only one of them would be heard of.
void branch_group::has_value(branch& one) noexcept {
  if (policy_ == policy::stop_at_end) {
    if (decided_) return;
    decide(one);
  } else if (&one != giver_) {
    return;
  }
  if (!root_.is_branch || root_.root() != combinator_) return;
  auto& outer = static_cast<branch&>(root_);
  outer.of_.has_value(outer);
}

// The group itself may be what lost a race, further out.
bool branch_group::nobody_wants(const branch& one) const noexcept {
  if (decided_ && decisive_ != &one) return true;
  if (!root_.is_branch || !root_.stop_requested()) return false;
  const auto& outer = static_cast<const branch&>(root_);
  return outer.of_.nobody_wants(outer);
}

bool branch_group::is_stopped() const noexcept {
  return decisive_ != nullptr && decisive_->failed() && decisive_->exception() == nullptr &&
         root_.stop_requested();
}

void branch_group::rethrow() const {
  if (decisive_ != nullptr && decisive_->failed()) throw_missing_value(decisive_->exception());
}

void branch_group::stop_all() noexcept {
  for (branch& one : live_) one.request_stop();
}

// Those that become ready meanwhile have to wait for the next step: others come first. But once it
// is decided, who can end at once does, so that what was taken is given on in the same turn.
void branch_group::run_ready() noexcept {
  if (root_.stop_requested()) stop_all();
  const bool was_decided = decided_;
  run_batch();
  if (decided_ && !was_decided && running_ > 0) run_batch();
}

void branch_group::run_batch() noexcept {
  if (own_.size() == 1 && !ready_.some()) {  // as usual
    work* const only = own_.pop_front();
    return only->run(*only);
  }
  work_queue now(std::move(own_));
  work_queue woken = ready_.take_all();
  now.append(woken);
  while (work* const item = now.pop_front()) item->run(*item);
}

void branch_group::end_all() noexcept {
  stop_all();
  run_batch();
}

// After the push nothing here may be touched, unless it is ours to wake the task.
void branch_group::schedule(work& item) noexcept {
  if (ready_.push(item)) step_.complete();
}

// By the task, which runs the branch.
void branch_group::defer(work& item) noexcept {
  gives_way_ = true;
  own_.push_back(item);
}

void branch_group::offload(work& item) noexcept {
  root_.home().offload(item);
}

void branch_group::step_wait::start() noexcept {
  if (of_.own_.empty() && of_.ready_.rest()) return;
  complete();
}

cancel_answer branch_group::step_wait::cancel() noexcept {
  of_.stop_all();
  return cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
