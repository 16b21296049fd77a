// tests/base/result_test.cpp: a failed result cannot be read as if it had a value.
#include "skua/base/result.hpp"

#include "skua/base/sanitizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>

namespace {

using skua::or_throw;
using skua::result;
using testing::HasSubstr;

const std::error_code refused = std::make_error_code(std::errc::connection_refused);

TEST(result, that_failed_throws_its_code_when_its_value_is_read) {
  const result<int> failed = std::unexpected(refused);
  try {
    (void)failed.value();
    FAIL() << "a failed result gave a value";
  } catch (const std::bad_expected_access<std::error_code>& thrown) {
    EXPECT_EQ(thrown.error(), refused);
  }
}

TEST(result, that_failed_aborts_when_dereferenced_if_the_library_checks) {
  if constexpr (skua::built_with_library_assertions) {
    result<int> failed = std::unexpected(refused);
    EXPECT_EXIT((void)*failed, testing::KilledBySignal(SIGABRT), "Assertion");
  } else {
    GTEST_SKIP() << "built without the assertions of the standard library";
  }
}

TEST(or_throw, gives_the_value) {
  EXPECT_EQ(or_throw(result<int>(7)), 7);
}

TEST(or_throw, moves_a_value_that_cannot_be_copied) {
  const std::unique_ptr<int> value =
      or_throw(result<std::unique_ptr<int>>(std::make_unique<int>(7)));
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 7);
}

TEST(or_throw, leaves_a_named_result_as_it_was) {
  const result<std::string> named = "a text too long to be stored inside the string object";
  EXPECT_EQ(or_throw(named), *named);
  EXPECT_FALSE(named->empty());
}

TEST(or_throw, accepts_a_result_without_a_value) {
  EXPECT_NO_THROW(or_throw(result<void>()));
  EXPECT_THROW(or_throw(result<void>(std::unexpected(refused))), std::system_error);
}

TEST(or_throw, throws_the_code_and_names_the_error) {
  try {
    (void)or_throw(result<int>(std::unexpected(refused)));
    FAIL() << "a failed result gave a value";
  } catch (const std::system_error& thrown) {
    EXPECT_EQ(thrown.code(), refused);
    EXPECT_EQ(thrown.what(), refused.message());
  }
}

TEST(or_throw, puts_the_callers_words_first) {
  try {
    (void)or_throw(result<int>(std::unexpected(refused)), "connect to 10.0.0.1");
    FAIL() << "a failed result gave a value";
  } catch (const std::system_error& thrown) {
    EXPECT_EQ(thrown.what(), "connect to 10.0.0.1: " + refused.message());
  }
}

}  // namespace
