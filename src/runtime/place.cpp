// src/runtime/place.cpp: the worker of each task, and its CPUs.
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/home_queue.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"
#include "skua/base/error.hpp"
#include "skua/runtime/placement.hpp"
#include "skua/runtime/this_worker.hpp"

#include <stdexcept>
#include <string>

namespace skua::inline SKUA_ABI {
namespace {

[[noreturn]] void throw_no_such_worker(const char* who, std::size_t number, std::size_t workers) {
  throw std::out_of_range(std::string(who) + " worker " + std::to_string(number) +
                          " of a runtime that has " + std::to_string(workers));
}

}  // namespace

// Throws before anything has happened.
executor& core::place_task(const spawn_request& order) {
  if (order.worker != spawn_request::any_worker) {
    if (order.worker >= workers_.size())
      throw_no_such_worker("skua::spawn_on: there is no", order.worker, workers_.size());
    return workers_[order.worker]->pinned();
  }
  const std::size_t here = worker_of_caller();
  if (children_stay_ && here != placement::nowhere) return workers_[here]->pinned();
  return workers_[ask_dispatcher(order, here)]->pinned();
}

std::size_t core::ask_dispatcher(const spawn_request& order, std::size_t here) {
  placement of(workers_.size(), here, this, [](const void* whose, std::size_t worker) noexcept {
    return static_cast<const core*>(whose)->load_of(worker);
  });
  if (order.has_key) of.with_key(order.key);
  const std::size_t chosen = settings_.dispatcher.choose(of);
  if (chosen >= workers_.size())
    throw_no_such_worker("skua: config::dispatcher has chosen", chosen, workers_.size());
  return chosen;
}

// In a blocking call, that of the task that waits for it.
std::size_t core::worker_of_caller() const noexcept {
  const current_state& here = current();
  if (here.runtime != this) return placement::nowhere;
  if (here.as != nullptr) return here.as->index;
  if (here.task == nullptr) return placement::nowhere;
  return static_cast<home_queue&>(here.task->home()).of().index;
}

std::size_t core::load_of(std::size_t worker) const noexcept {
  return worker < workers_.size() ? workers_[worker]->pinned().tasks() : 0;
}

std::size_t core::waiting_outside() const noexcept {
  if (!places()) return inject_.size();
  std::size_t sum = 0;
  for (const auto& one : workers_) sum += one->pinned().in_inbox();
  return sum;
}

std::optional<start_error> core::choose_cpus() {
  if (settings_.pinning.what() == pinning::unit::nothing) return {};
  auto chosen =
      cpus_of_workers(settings_.pinning, settings_.workers, cpu_map::read("/sys/devices/system"));
  if (!chosen)
    return start_error(std::make_error_code(std::errc::invalid_argument), chosen.error());
  cpus_ = std::move(*chosen);
  return {};
}

// What was allowed a moment ago may be forbidden now.
std::optional<start_error> core::pin(std::size_t worker) {
  if (cpus_.empty()) return {};
  const int error = pin_thread(threads_[worker].native_handle(), cpus_[worker]);
  if (error == 0) return {};
  const std::error_code code = error_from_errno(error);
  return start_error(code, "the system refused config::pinning for worker " +
                               std::to_string(worker) + ": " + code.message());
}

std::optional<std::size_t> this_worker() noexcept {
  const worker* const here = current().as;
  return here != nullptr ? std::optional(here->index) : std::nullopt;
}

std::size_t worker_count() {
  const core* const here = current().runtime;
  if (here == nullptr)
    throw std::logic_error("skua::worker_count: this thread runs no task of a runtime");
  return here->worker_count();
}

}  // namespace skua::inline SKUA_ABI
