// tests/support/budget.cpp: read the granted minutes and share them between tests.
#include "support/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace skua_test {

double budget_seconds(double default_seconds, const char* minutes, int tests) {
  if (minutes == nullptr || *minutes == '\0') return default_seconds;
  char* rest = nullptr;
  const double granted = std::strtod(minutes, &rest);
  if (*rest != '\0' || !(granted >= 0)) {
    std::fprintf(stderr, "SKUA_TEST_MINUTES: '%s' is not a number of minutes\n", minutes);
    std::exit(2);
  }
  return granted * 60 / std::max(1, tests);
}

budget::budget(double default_seconds) {
  const int tests = testing::UnitTest::GetInstance()->test_to_run_count();
  const std::chrono::duration<double> length(
      budget_seconds(default_seconds, std::getenv("SKUA_TEST_MINUTES"), tests));
  using clock = std::chrono::steady_clock;
  end_ = clock::now() + std::chrono::duration_cast<clock::duration>(length);
}

}  // namespace skua_test
