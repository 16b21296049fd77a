// tests/runtime/stall_watch_test.cpp: a task that holds its worker is reported, by name and place.
#include "runtime/stall_watch.hpp"

#include "skua/skua.hpp"
#include "support/log_recorder.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using skua::named;
using skua::task;
using skua_test::started;

constexpr std::string_view held = "holds its worker";

void compute(std::chrono::milliseconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
  }
}

task<> computes(std::chrono::milliseconds length) {
  compute(length);
  co_return;
}

/// Whoever looks out for stalls may have no processor for a while itself: until so many are
/// reported, and then for as long as it takes to report another one. A minute at most.
void compute_until_reported(const skua_test::log_recorder& log, std::size_t reports) {
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (log.count(held) < reports && std::chrono::steady_clock::now() < patience) compute(1ms);
  compute(150ms);
}

skua::config two_workers(skua_test::log_recorder& log) {
  skua::config settings;
  settings.workers = 2;
  settings.log = log.logger();
  return settings;
}

TEST(stall, is_reported_once_with_name_and_place) {
  skua_test::log_recorder log;
  auto rt = started(two_workers(log));
  const auto hogs = [&]() -> task<> {
    compute_until_reported(log, 1);
    co_return;
  };
  const auto line = std::to_string(__LINE__ + 1);
  rt.block_on(named("hog", hogs()));
  const auto records = log.with(held);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].fields.at("name"), "hog");
  EXPECT_EQ(records[0].fields.at("line"), line);
  EXPECT_NE(records[0].fields.at("file").find("stall_watch_test.cpp"), std::string::npos);
  EXPECT_EQ(records[0].fields.at("stack"), "");
  EXPECT_EQ(rt.metrics().stalls, 1U);
}

TEST(stall, below_the_threshold_is_none) {
  skua_test::log_recorder log;
  skua::config settings = two_workers(log);
  settings.stall_threshold = 60'000'000'000;
  auto rt = started(settings);
  rt.block_on(computes(300ms));
  EXPECT_EQ(log.count(held), 0U);
  EXPECT_EQ(rt.metrics().stalls, 0U);
}

TEST(stall, is_not_reported_if_nobody_wants_to_know) {
  skua_test::log_recorder log;
  skua::config settings = two_workers(log);
  settings.stall_threshold = 0;
  auto rt = started(settings);
  rt.block_on(computes(200ms));
  EXPECT_EQ(log.count(held), 0U);
}

TEST(stall, is_one_also_in_a_system_call) {
  skua_test::log_recorder log;
  auto rt = started(two_workers(log));
  auto blocks = [&]() -> task<> {
    const auto patience = std::chrono::steady_clock::now() + 60s;
    while (log.count(held) == 0 && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(50ms);
    std::this_thread::sleep_for(150ms);
    co_return;
  };
  rt.block_on(blocks());
  EXPECT_EQ(log.count(held), 1U);
}

TEST(stall, is_none_if_many_tasks_take_turns) {
  skua_test::log_recorder log;
  const skua::config settings = two_workers(log);
  auto rt = started(settings);
  auto last = std::chrono::steady_clock::now();
  std::chrono::nanoseconds longest(0);
  const auto took_a_turn = [&] {
    const auto now = std::chrono::steady_clock::now();
    longest = std::max<std::chrono::nanoseconds>(longest, now - last);
    last = now;
  };
  auto busy = [&]() -> task<> {
    const auto end = last + 300ms;
    for (took_a_turn(); last < end; took_a_turn()) co_await skua::yield();
  };
  skua::sync_wait(rt.spawn_on(0, busy()));  // where it stays
  took_a_turn();
  if (longest.count() >= settings.stall_threshold)
    GTEST_SKIP() << "the machine kept it waiting for " << longest.count() << " ns";
  EXPECT_EQ(log.count(held), 0U);
}

TEST(stall, shows_the_stack_if_asked_to) {
  skua_test::log_recorder log;
  skua::config settings = two_workers(log);
  settings.stall_signal = SIGRTMIN + 4;
  auto rt = started(settings);
  const auto shown = [&] {
    return std::ranges::any_of(log.with(held), [](const auto& one) {
      return one.fields.at("stack").find(" < ") != std::string::npos;
    });
  };
  // A thread that has no processor when it is asked does not answer in time: then the next time.
  const auto hogs = [&]() -> task<> {
    for (std::size_t i = 1; i <= 20 && !shown(); ++i) {
      compute_until_reported(log, i);
      co_await skua::yield();
    }
  };
  rt.block_on(hogs());
  EXPECT_GE(log.count(held), 1U);
  EXPECT_TRUE(shown());
}

TEST(stall, signals_are_real_time_signals) {
  skua::config settings;
  settings.stall_signal = SIGINT;
  const auto refused = skua::runtime::start(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(), "config::stall_signal is neither 0 nor a real-time signal");
}

}  // namespace
