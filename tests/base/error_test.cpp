// tests/base/error_test.cpp: errors compare as expected, and fail() makes failed results of them.
#include "skua/base/error.hpp"

#include "skua/base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

namespace {

using skua::error_from_errno;
using skua::fail;
using skua::result;

constexpr skua::errc all[] = {skua::errc::closed, skua::errc::end_of_stream,
                              skua::errc::limit_exceeded};

TEST(error, has_a_category_and_words_of_its_own) {
  const std::error_code code = skua::errc::closed;
  EXPECT_STREQ(code.category().name(), "skua");
  EXPECT_EQ(code.message(), "closed");
  std::set<std::string> messages;
  for (const std::error_code each : all) messages.insert(each.message());
  EXPECT_EQ(messages.size(), std::size(all));
}

TEST(error, is_never_zero_which_means_success) {
  for (const std::error_code each : all) EXPECT_TRUE(each) << each.message();
}

TEST(error, equals_itself_and_no_errno_of_the_same_number) {
  const std::error_code code = skua::errc::closed;
  EXPECT_EQ(code, skua::errc::closed);
  EXPECT_NE(code, skua::errc::end_of_stream);
  EXPECT_NE(code, error_from_errno(code.value()));
  EXPECT_NE(code, std::errc::operation_not_permitted);
}

TEST(error, of_an_unknown_number_says_so) {
  EXPECT_EQ(skua::error_category().message(77), "unknown skua error 77");
}

TEST(error_from_errno, equals_the_named_error_as_condition_and_as_code) {
  const std::error_code code = error_from_errno(ECONNRESET);
  EXPECT_EQ(code, std::errc::connection_reset);
  EXPECT_EQ(code, std::make_error_code(std::errc::connection_reset));
}

TEST(error_from_errno, refuses_success_and_negative_results) {
  EXPECT_DEATH((void)error_from_errno(0), "error_test.*an errno value is positive");
  EXPECT_DEATH((void)error_from_errno(-EAGAIN), "an errno value is positive");
}

TEST(fail, makes_a_failed_result_from_each_kind_of_error) {
  const result<int> from_standard = fail(std::errc::timed_out);
  const result<std::string> from_skua = fail(skua::errc::limit_exceeded);
  const result<void> from_code = fail(error_from_errno(EPIPE));
  ASSERT_FALSE(from_standard || from_skua || from_code);
  EXPECT_EQ(from_standard.error(), std::errc::timed_out);
  EXPECT_EQ(from_skua.error(), skua::errc::limit_exceeded);
  EXPECT_EQ(from_code.error(), std::errc::broken_pipe);
}

TEST(fail, refuses_success_and_names_the_caller) {
  EXPECT_DEATH((void)fail(std::error_code()), "error_test.*a failure carries an error");
  EXPECT_DEATH((void)fail(std::errc()), "error_test.*a failure carries an error");
}

// Dies after main() has returned; a destroyed category would be caught by the sanitizers.
struct reads_a_code_at_exit {
  ~reads_a_code_at_exit() { skua::check(code.message() == "closed", "words remain until the end"); }
  std::error_code code = skua::errc::closed;
};
const reads_a_code_at_exit at_exit;

}  // namespace
