// src/runtime/runtime.cpp: the public face of core.
#include "skua/runtime/runtime.hpp"

#include "driver/timer_wheel.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "skua/runtime/run.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

namespace skua::inline SKUA_ABI {

runtime_handle::runtime_handle(core& of) noexcept : core_(&of) {
  of.add_reference();
}

runtime_handle::runtime_handle(const runtime_handle& from) noexcept : core_(from.core_) {
  if (core_ != nullptr) core_->add_reference();
}

runtime_handle::~runtime_handle() {
  if (core_ != nullptr) core_->release();
}

runtime_handle runtime_handle::current() {
  core* const here = skua::current().runtime;
  if (here == nullptr)
    throw std::logic_error("skua::runtime_handle::current: this thread runs no task of a runtime");
  return runtime_handle(*here);
}

task_cell* runtime_handle::accept(const spawn_request& order, bool only_if_room) const {
  if (only_if_room && !core_->has_room()) return nullptr;
  return core_->spawn_from_outside(order);
}

metrics_snapshot runtime_handle::metrics() const {
  return core_->metrics();
}

std::vector<task_info> runtime_handle::tasks() const {
  return core_->tasks();
}

std::expected<runtime, start_error> runtime::start(const config& settings) {
  const std::expected<core*, start_error> started = core::start(settings);
  if (!started) return std::unexpected(started.error());
  runtime whole(**started);
  (*started)->release();  // the runtime has its own reference
  return whole;
}

runtime::~runtime() {
  if (handle_.core_ == nullptr) return;
  if (handle_.core_->is_current())
    handle_.core_->abandon();
  else
    static_cast<void>(handle_.core_->shut_down(no_deadline));
}

shutdown_report runtime::shutdown() {
  return shut_down(no_deadline);
}

shutdown_report runtime::shut_down(std::int64_t timeout) {
  if (handle_.core_->is_current())
    throw std::logic_error(
        "skua::runtime::shutdown: called by one of its own tasks, which cannot wait for itself");
  return handle_.core_->shut_down(timeout);
}

void throw_start_error(const start_error& why) {
  throw std::system_error(why.code(), "skua::run: " + std::string(why.message()));
}

void runtime::run_to_the_end(const spawn_request* orders, std::size_t count, task_hold* ended) {
  handle_.core_->run_to_the_end(orders, count, ended);
}

}  // namespace skua::inline SKUA_ABI
