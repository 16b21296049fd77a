// tests/model/mutation.hpp: a scenario is clean, and dies when one memory order is weakened.
#pragma once

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "support/budget.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace skua_model {

inline limits bound(int preemptions) {
  limits within;
  within.preemptions = preemptions;
  return within;
}

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

struct named_scenario {
  const char* name;
  std::function<void()> run;
};

/// Explores the scenarios at a bound at which they may not come to an end, for so long as the
/// budget of the test allows, which they share. Says how far each came; fails only if one does.
/// What is left of a scenario's time after half of it is spent at random: depth-first stays for
/// long with the same beginning.
inline void expect_clean_as_far_as(int preemptions, const std::vector<named_scenario>& scenarios) {
  constexpr double seconds_each = 1;
  constexpr double seconds_least = 0.01;
  const skua_test::budget time(seconds_each * static_cast<double>(scenarios.size()));
  std::size_t left = scenarios.size();
  for (const named_scenario& one : scenarios) {
    limits within = bound(preemptions);
    within.executions = std::numeric_limits<std::uint64_t>::max();
    within.seconds = std::max(seconds_least, time.seconds_left() / static_cast<double>(left--) / 2);
    const exploration done = explorer::explore(within, one.run);
    std::printf("%s: %llu executions at bound %d%s", one.name,
                static_cast<unsigned long long>(done.executions), preemptions,
                done.complete ? ", that is all\n" : ", not all");
    if (done.complete) continue;
    within.random_executions = within.executions;
    within.seed = std::random_device()();
    std::printf("; at random from seed %llu", static_cast<unsigned long long>(within.seed));
    std::fflush(stdout);
    const exploration more = explorer::explore(within, one.run);
    std::printf(", %llu more\n", static_cast<unsigned long long>(more.executions));
  }
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
