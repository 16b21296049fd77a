// src/runtime/config.cpp: refuse settings that make no sense, then start.
#include "skua/runtime/config.hpp"

#include "runtime/available_cpus.hpp"
#include "runtime/core.hpp"
#include "skua/base/clock.hpp"

#include <algorithm>
#include <csignal>
#include <expected>
#include <new>
#include <string_view>
#include <system_error>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::size_t workers_max = 1'024;
constexpr std::uint32_t interval_max = 1'000'000;
constexpr std::int64_t linger_max = 10'000'000;  // nanoseconds
constexpr std::size_t blocking_threads_max = 32'768;
constexpr std::uint32_t ring_entries_max = 32'768;

template <typename Number>
bool between(Number value, Number least, Number most) {
  return value >= least && value <= most;
}

/// What is wrong, as a sentence; empty if nothing is.
std::string_view fault_in(const config& given) {
  const bool one_thread = given.flavour == flavour::current_thread;
  const bool placed = given.flavour == flavour::thread_per_core;
  if (!one_thread && !placed && given.flavour != flavour::multi_thread)
    return "config::flavour is none of the flavours";
  if (given.order != order::fifo && given.order != order::lifo)
    return "config::order is none of the orders";
  if (given.order == order::lifo && given.flavour != flavour::multi_thread)
    return "config::order is lifo, but config::flavour is not multi_thread: it is for workers that "
           "steal";
  if (given.workers != config::automatic) {
    if (given.workers == 0) return "config::workers is 0; a runtime has at least one worker";
    if (given.workers > workers_max) return "config::workers is above 1024";
    if (one_thread && given.workers != 1)
      return "config::workers is not 1; a current_thread runtime has one worker, the caller";
  }
  if (given.dispatcher && !placed)
    return "config::dispatcher is set, but config::flavour is not thread_per_core: tasks of the "
           "other flavours are placed by whoever is free";
  if (one_thread && given.pinning.what() != pinning::unit::nothing)
    return "config::pinning is set, but a current_thread runtime runs on the caller's thread";
  if (given.name.size() > config::name_max) return "config::name is longer than 32 bytes";
  if (!between(given.event_interval, 1U, interval_max))
    return "config::event_interval is not between 1 and 1000000";
  if (given.global_queue_interval != config::automatic &&
      !between<std::size_t>(given.global_queue_interval, 2, interval_max))
    return "config::global_queue_interval is not between 2 and 1000000";
  if (!between(given.budget, 1U, interval_max))
    return "config::budget is not between 1 and 1000000";
  if (given.spawn_queue_limit == 0)
    return "config::spawn_queue_limit is 0; nothing could be spawned";
  if (!between<std::size_t>(given.blocking_threads, 1, blocking_threads_max))
    return "config::blocking_threads is not between 1 and 32768";
  if (!between(given.linger, std::int64_t{0}, linger_max))
    return "config::linger is not between 0 and 10 ms";
  if (given.blocking_keep_alive < 0) return "config::blocking_keep_alive is negative";
  if (given.unhandled != unhandled::log && given.unhandled != unhandled::shut_down)
    return "config::unhandled is none of the policies";
  if (given.stall_threshold < 0) return "config::stall_threshold is negative";
  if (given.stall_signal != 0 && !between(given.stall_signal, SIGRTMIN, SIGRTMAX))
    return "config::stall_signal is neither 0 nor a real-time signal";
  if (given.virtual_time && !one_thread)
    return "config::virtual_time is set, but config::flavour is not current_thread: with several "
           "threads time would not pass in the same way twice";
  if (given.virtual_time && given.clock != nullptr)
    return "config::virtual_time is set, and so is config::clock; a runtime has one clock";
  if (given.backend > backend::none) return "config::backend is none of the backends";
  if (!between(given.ring_submissions, 1U, ring_entries_max))
    return "config::ring_submissions is not between 1 and 32768";
  if (!between(given.ring_completions, given.ring_submissions, 2 * ring_entries_max))
    return "config::ring_completions is not between config::ring_submissions and 65536";
  return {};
}

config resolved(const config& given) {
  config settled = given;
  if (settled.workers == config::automatic)
    settled.workers =
        settled.flavour == flavour::current_thread ? 1 : std::min(available_cpus(), workers_max);
  // A condition variable adds this to the time of day.
  constexpr std::int64_t a_year = 365LL * 24 * 3'600 * 1'000'000'000;
  settled.blocking_keep_alive = std::min(settled.blocking_keep_alive, a_year);
  return settled;
}

}  // namespace

std::expected<core*, start_error> core::start(const config& settings) {
  if (const std::string_view fault = fault_in(settings); !fault.empty())
    return std::unexpected(start_error(std::make_error_code(std::errc::invalid_argument), fault));
  core* started = nullptr;
  try {
    started = new core(resolved(settings));
    if (auto failed = started->make_workers()) {
      started->release();
      return std::unexpected(*failed);
    }
    if (settings.flavour == flavour::current_thread) return started;
    const auto failed = started->start_threads();
    if (!failed) return started;
    started->take_down();
    started->release();
    return std::unexpected(*failed);
  } catch (const std::bad_alloc&) {
    if (started != nullptr) {
      if (started->everything_ != nullptr) started->take_down();  // it got as far as to its threads
      started->release();
    }
    return std::unexpected(start_error(std::make_error_code(std::errc::not_enough_memory),
                                       "there is no memory for the runtime"));
  }
}

}  // namespace skua::inline SKUA_ABI
