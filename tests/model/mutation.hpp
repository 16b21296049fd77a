// tests/model/mutation.hpp: shows that a scenario dies when one memory order is weakened.
#pragma once

#include "model/atomic.hpp"
#include "model/explorer.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace skua_model {

/// Explores `scenario` with the mutant in force, in a child process, and expects it to fail. Prints
/// the execution at which it died.
inline void expect_killed(const order_mutant& mutant, const limits& within,
                          const std::function<void()>& scenario) {
  const char* side = mutant.drops == order_mutant::side::acquire   ? "acquire"
                     : mutant.drops == order_mutant::side::release ? "release"
                                                                   : "order";
  std::printf("mutant: %.*s without its %s: ", static_cast<int>(mutant.function.size()),
              mutant.function.data(), side);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    active_mutant = &mutant;
    const exploration done = explorer::explore(within, scenario);
    std::printf("SURVIVED %llu executions\n", static_cast<unsigned long long>(done.executions));
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == explorer::failure_exit_code)
      << mutant.function << " without its " << side << " is not noticed";
}

/// Explores all of `scenario` within the bound, and says how much that was.
inline void expect_clean(const char* name, const limits& within,
                         const std::function<void()>& scenario) {
  const exploration done = explorer::explore(within, scenario);
  std::printf("%s: %llu executions at bound %d%s\n", name,
              static_cast<unsigned long long>(done.executions), within.preemptions,
              done.complete ? ", that is all" : ", not all");
  EXPECT_TRUE(done.complete);
}

}  // namespace skua_model
