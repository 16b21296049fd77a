// src/runtime/runtime.cpp: the public face of core.
#include "skua/runtime/runtime.hpp"

#include "driver/timer_wheel.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "skua/base/check.hpp"
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

core& runtime_handle::get() const noexcept {
  check(core_ != nullptr, "a runtime or a handle of one is not used after it was moved from");
  return *core_;
}

task_cell* runtime_handle::accept(const spawn_request& order, bool only_if_room) const {
  if (only_if_room && !get().has_room()) return nullptr;
  return get().spawn_from_outside(order);
}

std::size_t runtime_handle::workers() const noexcept {
  return get().worker_count();
}

std::size_t runtime_handle::tasks_on(std::size_t worker) const noexcept {
  return get().load_of(worker);
}

metrics_snapshot runtime_handle::metrics() const {
  return get().metrics();
}

driver_info runtime_handle::driver_info() const {
  return get().how_driven();
}

std::vector<task_info> runtime_handle::tasks() const {
  return get().tasks();
}

std::expected<runtime, start_error> runtime::start(const config& settings) {
  const std::expected<core*, start_error> started = core::start(settings);
  if (!started) return std::unexpected(started.error());
  runtime whole(**started);
  (*started)->release();  // the runtime has its own reference
  return whole;
}

// What its own shutdown runs may not destroy it: that ends the program, with the reason.
// NOLINTNEXTLINE(bugprone-exception-escape)
runtime::~runtime() {
  if (handle_.core_ == nullptr) return;
  core& mine = *handle_.core_;
  if (!mine.in_child() && mine.is_beneath_this_thread())
    mine.abandon();
  else
    static_cast<void>(mine.shut_down(no_deadline));
}

shutdown_report runtime::shutdown() {
  return shut_down(no_deadline);
}

shutdown_report runtime::shut_down(std::int64_t timeout) {
  if (handle_.get().is_beneath_this_thread())
    throw std::logic_error(
        "skua::runtime::shutdown: called by one of its own tasks, which cannot wait for itself");
  return handle_.get().shut_down(timeout);
}

bool runtime::drain() {
  return drain_for(no_deadline);
}

bool runtime::drain_for(std::int64_t timeout) {
  if (handle_.get().is_beneath_this_thread())
    throw std::logic_error(
        "skua::runtime::drain: called by one of its own tasks, which cannot wait for itself");
  return handle_.get().drain(timeout);
}

void throw_start_error(const start_error& why) {
  throw std::system_error(why.code(), "skua::run: " + std::string(why.message()));
}

void runtime::run_to_the_end(const spawn_request* orders, std::size_t count, task_hold* ended) {
  handle_.get().run_to_the_end(orders, count, ended);
}

}  // namespace skua::inline SKUA_ABI
