// tests/time/retry_test.cpp: errors are tried again, as often and as long as was asked for.
#include "skua/time/retry.hpp"

#include "skua/skua.hpp"
#include "skua/time/virtual_time.hpp"
#include "support/runtimes.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::instant;
using skua::result;
using skua::retry;
using skua::retry_options;
using skua::sleep;
using skua::spawn;
using skua::task;
using skua::testing::virtual_time;

/// Fails so many times, then succeeds; and notes when it was tried.
struct service {
  int fails_first = 0;
  std::errc with = std::errc::connection_refused;
  std::chrono::nanoseconds takes = 0s;
  std::vector<instant> tried{};

  task<result<int>> ask(int question) {
    tried.push_back(skua::now());
    co_await sleep(takes);
    if (static_cast<int>(tried.size()) <= fails_first) co_return skua::fail(with);
    co_return question + 1;
  }
};

task<result<int>> ask(service& of, int question) {
  return of.ask(question);
}

retry_options plain() {
  return retry_options().first_pause(1s).jitter(0);
}

TEST(retry, is_content_with_the_first_success) {
  virtual_time([]() -> task<> {
    service at;
    const auto got = co_await retry(plain(), ask, std::ref(at), 1);
    EXPECT_EQ(got, 2);
    EXPECT_EQ(at.tried.size(), 1U);
  });
}

TEST(retry, tries_again_after_longer_and_longer_pauses) {
  virtual_time([]() -> task<> {
    service at;
    at.fails_first = 4;
    const instant begun = skua::now();
    const auto got = co_await retry(plain(), ask, std::ref(at), 1);
    EXPECT_EQ(got, 2);
    const std::vector<instant> expected = {begun, begun + 1s, begun + 3s, begun + 7s, begun + 15s};
    EXPECT_EQ(at.tried, expected);
  });
}

TEST(retry, gives_up_with_the_error_of_the_last_attempt) {
  virtual_time([]() -> task<> {
    service at;
    at.fails_first = 100;
    const instant begun = skua::now();
    const auto got = co_await retry(plain().attempts(3), ask, std::ref(at), 1);
    EXPECT_EQ(got.error(), std::errc::connection_refused);
    EXPECT_EQ(at.tried.size(), 3U);
    EXPECT_EQ(skua::now() - begun, 3s) << "there is no pause after the last";
    const auto once = co_await retry(plain().attempts(1), ask, std::ref(at), 1);
    EXPECT_FALSE(once.has_value());
    EXPECT_EQ(at.tried.size(), 4U);
  });
}

TEST(retry, tries_again_only_what_is_worth_it) {
  virtual_time([]() -> task<> {
    service at;
    at.fails_first = 100;
    const auto refused_only = plain().only_if(
        [](const std::error_code& error) { return error == std::errc::connection_refused; });
    static_cast<void>(co_await retry(refused_only, ask, std::ref(at), 1));
    EXPECT_EQ(at.tried.size(), 5U);
    at.tried.clear();
    at.with = std::errc::permission_denied;
    const auto got = co_await retry(refused_only, ask, std::ref(at), 1);
    EXPECT_EQ(got.error(), std::errc::permission_denied);
    EXPECT_EQ(at.tried.size(), 1U);
  });
}

TEST(retry, throws_on_what_is_thrown) {
  auto fails = [](int& calls) -> task<result<void>> {
    ++calls;
    throw std::runtime_error("no");
    co_return {};
  };
  int calls = 0;
  EXPECT_THROW(static_cast<void>(virtual_time(retry(plain(), fails, std::ref(calls)))),
               std::runtime_error);
  EXPECT_EQ(calls, 1);
}

TEST(retry, begins_no_pause_that_is_too_long) {
  virtual_time([]() -> task<> {
    service at;
    at.fails_first = 100;
    const instant begun = skua::now();
    const auto got = co_await retry(plain().attempts(100).total(7s), ask, std::ref(at), 1);
    EXPECT_EQ(got.error(), std::errc::connection_refused);
    EXPECT_EQ(skua::now() - begun, 3s) << "the next attempt would come when all is over";
  });
}

TEST(retry, stops_an_attempt_when_the_total_time_is_over) {
  virtual_time([]() -> task<> {
    service at;
    at.fails_first = 100;
    at.takes = 4s;
    const instant begun = skua::now();
    const auto got = co_await retry(plain().total(8s), ask, std::ref(at), 1);
    EXPECT_EQ(got.error(), std::errc::timed_out);
    EXPECT_EQ(at.tried.size(), 2U);
    EXPECT_EQ(skua::now() - begun, 8s);
  });
}

TEST(retry, of_an_attempt_with_a_timeout_of_its_own_goes_on) {
  virtual_time([]() -> task<> {
    service at;
    at.takes = 24h;
    auto limited = [](service& of) -> task<result<int>> {
      if (of.tried.size() == 2) of.takes = 0s;
      co_return co_await skua::timeout(1s, of.ask(1));
    };
    const auto got = co_await retry(plain(), limited, std::ref(at));
    EXPECT_EQ(got, 2);
    EXPECT_EQ(at.tried.size(), 3U);
  });
}

TEST(retry, is_the_same_in_every_run_of_virtual_time) {
  auto body = [](std::vector<std::int64_t>& pauses) -> task<> {
    service at;
    at.fails_first = 100;
    static_cast<void>(co_await retry(retry_options().attempts(8), ask, std::ref(at), 1));
    for (std::size_t i = 1; i < at.tried.size(); ++i)
      pauses.push_back((at.tried[i] - at.tried[i - 1]).count());
  };
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  virtual_time(body(first));
  virtual_time(body(second));
  EXPECT_EQ(first.size(), 7U);
  EXPECT_EQ(first, second);
}

TEST(retry, keeps_callable_and_arguments_until_it_is_over) {
  virtual_time([]() -> task<> {
    auto body = [tried = 0](const std::string& text) mutable -> task<result<std::string>> {
      if (++tried < 3) co_return skua::fail(std::errc::io_error);
      co_return text + std::to_string(tried);
    };
    auto later = retry(plain(), body, std::string("attempt "));
    const auto got = co_await std::move(later);
    EXPECT_EQ(got, "attempt 3");
  });
}

TEST(retry, gives_values_that_can_only_be_moved) {
  virtual_time([]() -> task<> {
    auto makes = []() -> task<result<std::unique_ptr<int>>> { co_return std::make_unique<int>(7); };
    const auto got = co_await retry(plain(), makes);
    EXPECT_EQ(**got, 7);
  });
}

class retries : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, retries, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(retries, are_stopped_at_once_in_an_attempt_and_between_two) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const bool in_attempt : {false, true}) {
      service at;
      at.fails_first = 100;
      if (in_attempt) at.takes = 24h;
      auto tries = [](service& of) -> task<> {
        static_cast<void>(co_await retry(retry_options().first_pause(24h), ask, std::ref(of), 1));
        ADD_FAILURE() << "went on";
      };
      auto handle = skua::spawn_local(tries(at));
      while (at.tried.empty()) co_await skua::yield();
      for (int i = 0; i < 5; ++i) co_await skua::yield();
      handle.abort();
      EXPECT_TRUE((co_await handle.outcome()).stopped());
      EXPECT_EQ(at.tried.size(), 1U);
    }
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(retries, take_their_time) {
  auto rt = start();
  auto body = []() -> task<> {
    service at;
    at.fails_first = 3;
    const instant begun = skua::now();
    const auto got =
        co_await retry(retry_options().first_pause(100us).jitter(0), ask, std::ref(at), 1);
    EXPECT_EQ(got, 2);
    EXPECT_GE(skua::now() - begun, 700us);
  };
  rt.block_on(body());
}

}  // namespace
