// tests/sync/one_worker.hpp: tasks whose order is known, since they share a worker for good.
#pragma once

#include "skua/coro/task.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawn.hpp"

#include <utility>

namespace skua_test {

inline skua::task<> stay_here(skua::task<> body) {
  co_await skua::spawn_local(std::move(body));
}

/// What `body` starts by spawn_local() runs on the same worker, and has had its turn when a yield()
/// of `body` has ended.
inline void run_on_one_worker(skua::runtime& rt, skua::task<> body) {
  rt.block_on(stay_here(std::move(body)));
}

}  // namespace skua_test
