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

  [[nodiscard]] bool left() const { return seconds_left() > 0; }
  /// For a search that is told its time in advance. Negative if it is over.
  [[nodiscard]] double seconds_left() const {
    return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
  }

private:
  std::chrono::steady_clock::time_point end_;
};

/// What a budget is worth in seconds; `minutes` is null if the environment grants none.
[[nodiscard]] double budget_seconds(double default_seconds, const char* minutes, int tests);

}  // namespace skua_test
