// tests/support/sleepers.hpp: hooks that count the workers of a runtime that sleep.
#pragma once

#include "skua/runtime/hooks.hpp"

#include <atomic>
#include <cstddef>

namespace skua_test {

class sleepers final : public skua::hooks {
public:
  void worker_parks(std::size_t) override { ++asleep; }
  void worker_unparked(std::size_t) override { --asleep; }

  std::atomic<int> asleep = 0;  ///< or just about to be
};

}  // namespace skua_test
