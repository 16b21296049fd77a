// tests/coro/or_return_test.cpp: a value goes on, an error ends the coroutine and its locals.
#include "skua/coro/or_return.hpp"

#include "skua/base/error.hpp"
#include "skua/coro/sync_wait.hpp"
#include "support/noted.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace {

using skua::or_return;
using skua::result;
using skua::sync_wait;
using skua::task;

task<result<int>> half(int n) {
  if (n % 2 != 0) co_return skua::fail(std::errc::invalid_argument);
  co_return n / 2;
}
task<result<int>> quarter(int n) {
  const int h = co_await or_return(co_await half(n));
  co_return co_await or_return(co_await half(h));
}

TEST(or_return, passes_values) {
  EXPECT_EQ(sync_wait(quarter(8)).value(), 2);
}

TEST(or_return, ends_the_coroutine_with_the_error) {
  const auto failed = sync_wait(quarter(6));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error(), std::errc::invalid_argument);
}

TEST(or_return, destroys_locals_before_the_awaiter_goes_on) {
  std::string log;
  auto inner = [&]() -> task<result<int>> {
    const skua_test::noted first(log, "first ");
    const skua_test::noted second(log, "second ");
    const int n = co_await or_return(co_await half(3));
    log += "not reached ";
    co_return n;
  };
  auto outer = [&]() -> task<result<int>> {
    auto failed = co_await inner();
    log += "outer";
    co_return failed;
  };
  EXPECT_FALSE(sync_wait(outer()).has_value());
  EXPECT_EQ(log, "second first outer");
}

TEST(or_return, takes_values_errors_and_nothing_at_all) {
  auto all = []() -> task<result<std::unique_ptr<int>>> {
    co_await or_return(result<void>());
    auto box = co_await or_return(result<std::unique_ptr<int>>(std::make_unique<int>(3)));
    const result<int> kept = 4;
    *box += co_await or_return(kept);
    co_return std::move(box);
  };
  EXPECT_EQ(**sync_wait(all()), 7);
  auto none = []() -> task<result<void>> {
    co_await or_return(result<void>(skua::fail(std::errc::timed_out)));
    co_return {};
  };
  EXPECT_EQ(sync_wait(none()).error(), std::errc::timed_out);
}

TEST(or_return, skips_handlers_around_it) {
  bool caught = false;
  auto guarded = [&]() -> task<result<int>> {
    try {
      co_return co_await or_return(co_await half(1));
    } catch (...) {
      caught = true;
      throw;
    }
  };
  EXPECT_FALSE(sync_wait(guarded()).has_value());
  EXPECT_FALSE(caught);
}

TEST(or_return, works_with_other_error_types) {
  auto text = []() -> task<std::expected<int, std::string>> {
    co_return co_await or_return(std::expected<int, const char*>(std::unexpect, "narrow"));
  };
  EXPECT_EQ(sync_wait(text()).error(), "narrow");
}

}  // namespace
