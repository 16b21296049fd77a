// src/driver/fault_plan.cpp: a list of rules and a count.
#include "skua/driver/fault_plan.hpp"

#include "driver/fault_rule.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

struct fault_plan::state {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, fault_plan_rule>> rules;  // under the mutex
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> happened{0};
};

fault_plan::fault_plan() : state_(new state) {}

fault_plan::~fault_plan() {
  delete state_;
}

void fault_plan::fail(std::uint64_t number, std::errc error) {
  add(number, {.kind = fault_plan_rule::fails, .error = static_cast<int>(error)});
}

void fault_plan::shorten(std::uint64_t number, std::size_t bytes) {
  add(number, {.kind = fault_plan_rule::shortened, .count = bytes});
}

void fault_plan::delay_by(std::uint64_t number, std::int64_t nanoseconds) {
  add(number, {.kind = fault_plan_rule::late, .nanoseconds = nanoseconds});
}

void fault_plan::crowd(std::uint64_t number, std::size_t others) {
  add(number, {.kind = fault_plan_rule::crowded, .count = others});
}

void fault_plan::add(std::uint64_t number, const fault_plan_rule& what) {
  const std::lock_guard hold(state_->mutex);
  state_->rules.emplace_back(number, what);
}

fault_plan_rule fault_plan::take_next() noexcept {
  const std::lock_guard hold(state_->mutex);
  // order: none; numbers that stand for themselves.
  const std::uint64_t number = state_->begun.fetch_add(1, std::memory_order_relaxed) + 1;
  for (const auto& [which, what] : state_->rules) {
    if (which != number) continue;
    // order: none; as above.
    state_->happened.fetch_add(1, std::memory_order_relaxed);
    return what;
  }
  return {};
}

std::uint64_t fault_plan::begun() const noexcept {
  // order: none; a number that stands for itself.
  return state_->begun.load(std::memory_order_relaxed);
}

std::uint64_t fault_plan::happened() const noexcept {
  // order: none; a number that stands for itself.
  return state_->happened.load(std::memory_order_relaxed);
}

}  // namespace skua::inline SKUA_ABI
