// tests/base/check_test.cpp: a broken invariant says what and where, then stops the process.
#include "skua/base/check.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace {

using skua::check;

TEST(check, that_holds_does_nothing) {
  check(true, "never seen");
}

TEST(check, that_fails_aborts_and_names_file_line_function_and_words) {
  const auto here = std::source_location::current();
  const std::string where = std::string("check_test\\.cpp:") + std::to_string(here.line()) + ": ";
  EXPECT_EXIT(check(false, "water flows downhill", here), testing::KilledBySignal(SIGABRT),
              where + ".*TestBody.*: broken invariant: water flows downhill\n");
}

TEST(check, takes_the_place_of_its_caller) {
  const std::string where = "check_test\\.cpp:" + std::to_string(__LINE__ + 1) + ": ";
  EXPECT_DEATH(check(false, "the caller's line"), where);
}

}  // namespace
