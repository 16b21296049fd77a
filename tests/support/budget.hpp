// tests/support/budget.hpp: how long a test that searches at random may go on.
#pragma once

#include <chrono>

namespace skua_test {

/// `while (time.left())` is the loop of every model, stress and fuzz test.
///
/// Runs for `default_seconds`, unless the environment sets SKUA_TEST_MINUTES (./dev --minutes N, or
/// --minutes N to the program): those minutes are for the whole program, shared evenly by the tests
/// that it runs.
class budget {
public:
  explicit budget(double default_seconds);

  [[nodiscard]] bool left() const { return std::chrono::steady_clock::now() < end_; }

private:
  std::chrono::steady_clock::time_point end_;
};

/// What a budget is worth in seconds; `minutes` is null if the environment grants none.
[[nodiscard]] double budget_seconds(double default_seconds, const char* minutes, int tests);

}  // namespace skua_test
