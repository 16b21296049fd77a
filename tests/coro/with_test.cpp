// tests/coro/with_test.cpp: whatever its user does, a resource is closed, and that is awaited.
#include "skua/coro/with.hpp"

#include "skua/base/error.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace {

using skua::task;
using skua::with;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// Closes when its gate is opened.
struct connection {
  gate* closing;
  std::string* log;
  task<> close() {
    *log += "closing ";
    co_await gate::wait(*closing);
    *log += "closed ";
  }
};

struct fixture {
  manual_executor here;
  gate closing;
  gate using_it;
  std::string log;
  connection open() { return {&closing, &log}; }
};

TEST(with, gives_what_its_user_gives_after_it_was_closed) {
  fixture f;
  auto body = [](fixture& in) -> task<int> {
    auto use = [](connection& c) -> task<int> {
      *c.log += "used ";
      co_return 7;
    };
    co_return co_await with(in.open(), use);
  };
  driven<int> all(f.here, body(f));
  f.here.run_ready();
  EXPECT_FALSE(all.ended());
  f.closing.open();
  f.here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 7);
  EXPECT_EQ(f.log, "used closing closed ");
}

TEST(with, closes_after_an_exception_and_rethrows_it) {
  fixture f;
  auto body = [](fixture& in) -> task<> {
    auto use = [](connection&) -> task<> {
      throw std::runtime_error("used badly");
      co_return;
    };
    co_await with(in.open(), use);
  };
  driven<void> all(f.here, body(f));
  f.here.run_ready();
  f.closing.open();
  f.here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
  EXPECT_EQ(f.log, "closing closed ");
}

TEST(with, closes_after_a_stop_which_is_hidden_from_that_and_unwinds) {
  fixture f;
  auto body = [](fixture& in) -> task<> {
    auto use = [&in](connection&) -> task<> { co_await gate::wait(in.using_it); };
    co_await with(in.open(), use);
    in.log += "went on";
  };
  driven<void> all(f.here, body(f));
  f.here.run_ready();
  all.request_stop();
  f.here.run_ready();
  EXPECT_FALSE(all.ended());
  f.closing.open();
  f.here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
  EXPECT_EQ(f.log, "closing closed ");
}

TEST(with, closes_also_if_its_user_throws_before_it_gives_a_task) {
  fixture f;
  auto body = [](fixture& in) -> task<> {
    auto use = [](connection&) -> task<> { throw std::runtime_error("at once"); };
    co_await with(in.open(), use);
  };
  driven<void> all(f.here, body(f));
  f.here.run_ready();
  f.closing.open();
  f.here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
  EXPECT_EQ(f.log, "closing closed ");
}

TEST(with, takes_any_function_to_close_with) {
  fixture f;
  auto body = [](std::string& log) -> task<int> {
    auto use = [](int& number) -> task<int> { co_return number + 1; };
    auto close = [&log](int& number) -> task<> {
      log += std::to_string(number);
      co_return;
    };
    co_return co_await with(41, use, close);
  };
  driven<int> all(f.here, body(f.log));
  f.here.run_ready();
  EXPECT_EQ(*all.result(), 42);
  EXPECT_EQ(f.log, "41");
}

TEST(with, throws_what_closing_failed_with_if_all_else_went_well) {
  fixture f;
  auto fails = [](bool use_fails) -> task<> {
    auto use = [use_fails](int&) -> task<> {
      if (use_fails) throw std::runtime_error("used badly");
      co_return;
    };
    auto close = [](int&) -> task<skua::result<void>> {
      co_return std::unexpected(std::make_error_code(std::errc::io_error));
    };
    co_await with(0, use, close);
  };
  driven<void> only_close(f.here, fails(false));
  driven<void> both(f.here, fails(true));
  f.here.run_ready();
  EXPECT_THROW(std::rethrow_exception(only_close.result().exception()), std::system_error);
  EXPECT_THROW(std::rethrow_exception(both.result().exception()), std::runtime_error);
}

}  // namespace
