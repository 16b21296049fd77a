// tests/support/long_call.hpp: keeps a thread of the blocking pool busy.
#pragma once

#include "skua/coro/task.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <atomic>
#include <semaphore>

namespace skua_test {

/// For a runtime with one such thread: all other calls wait until this one may end.
struct long_call {
  skua::task<> run() {
    co_await skua::spawn_blocking([this] {
      begun = true;
      may_end.acquire();
    });
  }
  std::atomic<bool> begun = false;
  std::binary_semaphore may_end{0};
};

}  // namespace skua_test
