// src/runtime/inspect.cpp: look at a runtime while it runs.
#include "runtime/core.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI {
namespace {

task_info describe(task_cell& cell) {
  task_info info;
  info.id = cell.id();
  info.where = cell.where();
  info.name_length =
      static_cast<std::uint8_t>(cell.name().copy(info.name_text.data(), info.name_text.size()));
  info.stop_requested = cell.stop_requested();
  if (cell.joined.done()) {
    info.now = task_info::state::ended;
    return info;
  }
  info.chain_length = cell.look_at_chain(info.chain.data(), info.chain.size());
  if (info.chain_length > 0) info.now = task_info::state::waiting;
  return info;
}

worker_metrics read(const worker& one) {
  const worker_counters& from = one.counters();
  worker_metrics to;
  to.polls = from.polls.read();
  to.steals = from.steals.read();
  to.items_stolen = from.items_stolen.read();
  to.steal_misses = from.steal_misses.read();
  to.overflows = from.overflows.read();
  to.injected = from.injected.read();
  to.lifo_hits = from.lifo_hits.read();
  to.budget_yields = from.budget_yields.read();
  to.parks = from.parks.read();
  to.wakes_sent = from.wakes_sent.read();
  to.rescues = from.rescues.read();
  to.busy_ns = from.busy_ns.read();
  to.queue_depth = one.queued();
  return to;
}

}  // namespace

std::vector<task_info> core::tasks() {
  std::vector<task_info> all;
  cells_.for_each([&all](task_cell& cell) { all.push_back(describe(cell)); },
                  [this](task_cell& cell) { free_cell(cell); });
  std::ranges::sort(all, {}, &task_info::id);
  return all;
}

metrics_snapshot core::metrics() {
  metrics_snapshot all;
  all.ended = everything_->total_ended();  // first: an end is never counted before its spawn
  all.spawned = everything_->total_spawned();
  all.live = all.spawned - all.ended;
  all.inject_depth = waiting_outside();
  // order: none; numbers that stand for themselves.
  all.cancelled = cancelled_outside_.load(std::memory_order_relaxed);
  all.wakes_sent = wakes_.load(std::memory_order_relaxed);
  all.refused = refused_.load(std::memory_order_relaxed);
  all.stalls = watch_.stalls();
  all.driver = driver_info_.used;
  const blocking_pool::depth pool = pool_.look();
  all.blocking_threads = pool.threads;
  all.blocking_idle = pool.idle;
  all.blocking_depth = pool.waiting;
  for (const auto& one : workers_) {
    const worker_counters& from = one->counters();
    all.workers.push_back(read(*one));
    all.cancelled += from.cancelled.read();
    all.wakes_sent += from.wakes_sent.read();
    all.schedule_latency += from.schedule_latency.snapshot();
    all.run_time += from.run_time.snapshot();
  }
  return all;
}

}  // namespace skua::inline SKUA_ABI
