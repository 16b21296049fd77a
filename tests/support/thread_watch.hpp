// tests/support/thread_watch.hpp: hooks that tell when the workers of a runtime start and end.
#pragma once

#include "skua/runtime/hooks.hpp"
#include "support/event.hpp"

#include <cstddef>

namespace skua_test {

/// For runtimes that nobody joins: wait for `stopped` before what they borrow is destroyed.
class thread_watch final : public skua::hooks {
public:
  void thread_started(std::size_t) override { started.set(); }
  void thread_stops(std::size_t) override { stopped.set(); }

  event started;
  event stopped;
};

}  // namespace skua_test
