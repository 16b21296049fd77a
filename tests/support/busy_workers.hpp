// tests/support/busy_workers.hpp: keeps every worker of a runtime from running anything else.
#pragma once

#include "skua/coro/task.hpp"
#include "skua/runtime/runtime.hpp"
#include "support/event.hpp"
#include "support/runtimes.hpp"

#include <cstddef>
#include <memory>

namespace skua_test {

/// From its making until release(), what is spawned from outside waits in the shared queue. On a
/// current_thread runtime nothing is needed for that: nobody drives it.
class busy_workers {
public:
  busy_workers(skua::runtime& of, const kind& kind) {
    if (kind.is_alone()) return;
    for (std::size_t i = 0; i < kind.workers; ++i) of.spawn(block(shared_)).detach();
    shared_->busy.wait(static_cast<int>(kind.workers));
  }
  busy_workers(const busy_workers&) = delete;
  busy_workers& operator=(const busy_workers&) = delete;
  ~busy_workers() { release(); }

  void release() { shared_->released.set(); }

private:
  struct state {
    event busy;
    event released;
  };

  static skua::task<> block(std::shared_ptr<state> with) {
    with->busy.set();
    with->released.wait();
    co_return;
  }

  std::shared_ptr<state> shared_ = std::make_shared<state>();
};

}  // namespace skua_test
