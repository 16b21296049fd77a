// tests/support/budget_test.cpp: granted minutes replace the default and are shared evenly.
#include "support/budget.hpp"

#include <gtest/gtest.h>

namespace {

using skua_test::budget;
using skua_test::budget_seconds;

TEST(budget, without_granted_minutes_is_the_default) {
  EXPECT_EQ(budget_seconds(1.5, nullptr, 4), 1.5);
  EXPECT_EQ(budget_seconds(1.5, "", 4), 1.5);
}

TEST(budget, shares_granted_minutes_between_the_tests_of_a_program) {
  EXPECT_EQ(budget_seconds(1.5, "2", 4), 30.0);
  EXPECT_EQ(budget_seconds(1.5, "0.5", 0), 30.0);
}

TEST(budget, refuses_what_is_not_a_number) {
  EXPECT_EXIT((void)budget_seconds(1, "soon", 1), testing::ExitedWithCode(2), "'soon'");
}

TEST(budget, of_no_time_is_used_up_at_once) {
  setenv("SKUA_TEST_MINUTES", "0", 1);
  EXPECT_FALSE(budget(3600).left());
  EXPECT_LE(budget(3600).seconds_left(), 0);
  setenv("SKUA_TEST_MINUTES", "60", 1);
  EXPECT_TRUE(budget(0).left());
  EXPECT_GT(budget(0).seconds_left(), 100);
  EXPECT_LE(budget(0).seconds_left(), 3600);
  unsetenv("SKUA_TEST_MINUTES");
}

}  // namespace
