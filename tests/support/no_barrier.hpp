// tests/support/no_barrier.hpp: a barrier for tests on one thread: nobody is interrupted.
#pragma once

namespace skua_test {

struct no_barrier {
  /// What heavy() says. Who sets it to false sets it to true again.
  static inline bool kernel_helps = true;
  static bool heavy() noexcept { return kernel_helps; }
  static void light() noexcept {}
};

}  // namespace skua_test
