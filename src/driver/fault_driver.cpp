// src/driver/fault_driver.cpp: submit a substitute, and give its result to the original.
#include "driver/fault_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

bool may_be_short(op_code code) noexcept {
  switch (code) {
    case op_code::read:
    case op_code::write:
    case op_code::recv:
    case op_code::send:
    case op_code::send_zc:
    case op_code::splice:
      return true;
    default:
      return false;
  }
}

op_request changed(const fault_plan_rule& how, const op_request& from) noexcept {
  op_request to = from;
  // What is closed is closed, whatever the error: nobody would do it again.
  if (how.kind == fault_plan_rule::fails && from.code != op_code::close) to.code = op_code::nop;
  if (how.kind == fault_plan_rule::shortened && may_be_short(from.code))
    to.length = std::min<std::uint64_t>(from.length, how.count);
  return to;
}

}  // namespace

/// One of a crowd: does nothing, and frees itself.
struct fault_driver::bystander : operation {
  explicit bystander(fault_driver& whose) noexcept : operation(op_request(), gone), of(whose) {
    // order: none; counted before it is submitted.
    of.bystanders_.fetch_add(1, std::memory_order_relaxed);
  }
  static void gone(operation& op) noexcept {
    auto& self = static_cast<bystander&>(op);
    std::atomic<std::size_t>& left = self.of.bystanders_;
    delete &self;
    // order: [fault.bystander] release: it is gone.
    left.fetch_sub(1, std::memory_order_release);
  }
  fault_driver& of;
};

struct fault_driver::substitute : operation {
  substitute(fault_driver& whose, operation& instead_of, const fault_plan_rule& what) noexcept
      : operation(changed(what, instead_of), ended),
        of(whose),
        original(instead_of),
        how(what),
        late(*this) {
    expiry().deadline = instead_of.expiry().deadline;
  }

  struct lateness : timer {
    explicit lateness(substitute& whose) noexcept : timer(over), self(whose) {}
    static void over(timer& due) noexcept { static_cast<lateness&>(due).self.tell(); }
    substitute& self;
  };

  static void ended(operation& op) noexcept {
    auto& self = static_cast<substitute&>(op);
    if (self.how.kind != fault_plan_rule::late) return self.tell();
    self.late.deadline = self.of.time_.now() + self.how.nanoseconds;
    self.of.real_->add(self.late);
  }

  // The original may be gone as soon as it knows; so is this.
  void tell() noexcept {
    const std::unique_ptr<substitute> self = of.take(original);
    const bool fails = how.kind == fault_plan_rule::fails && result >= 0;
    original.result = fails ? -how.error : result;
    original.timed_out = timed_out;
    original.done(original);
  }

  fault_driver& of;
  operation& original;
  const fault_plan_rule how;
  lateness late;
};

fault_driver::fault_driver(std::unique_ptr<driver> real, fault_plan& plan,
                           const clock& time) noexcept
    : real_(std::move(real)), plan_(plan), time_(time) {}

fault_driver::~fault_driver() {
  // order: [fault.bystander] acquire: they are gone.
  while (bystanders_.load(std::memory_order_acquire) > 0) real_->poll();
}

void fault_driver::submit(operation& op) noexcept {
  const fault_plan_rule what = plan_.take_next();
  if (what.kind == fault_plan_rule::crowded) crowd(what.count);
  if (what.kind == fault_plan_rule::nothing || what.kind == fault_plan_rule::crowded)
    return real_->submit(op);
  auto made = std::make_unique<substitute>(*this, op, what);
  substitute& instead = *made;
  {
    const std::lock_guard hold(mutex_);
    substitutes_.emplace(&op, std::move(made));
  }
  real_->submit(instead);
}

void fault_driver::crowd(std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    auto* const one = new (std::nothrow) bystander(*this);
    if (one != nullptr) real_->submit(*one);
  }
}

std::unique_ptr<fault_driver::substitute> fault_driver::take(operation& original) noexcept {
  const std::lock_guard hold(mutex_);
  auto found = substitutes_.extract(&original);
  return std::move(found.mapped());
}

// A substitute cannot go away meanwhile: its end would need the lock.
bool fault_driver::cancel(operation& op) noexcept {
  std::unique_lock hold(mutex_);
  const auto found = substitutes_.find(&op);
  if (found == substitutes_.end()) {
    hold.unlock();
    return real_->cancel(op);
  }
  if (!real_->cancel(*found->second)) return false;
  substitutes_.erase(found);
  return true;
}

}  // namespace skua::inline SKUA_ABI
