// tests/time/instant_test.cpp: moments and spans are exact, and never wrap around.
#include "skua/time/instant.hpp"

#include "skua/base/clock.hpp"
#include "skua/runtime/spawn_blocking.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace {

using namespace std::chrono_literals;
using skua::instant;
using skua::task;
using skua::time_span;

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

constexpr instant at(std::int64_t nanoseconds) {
  return instant::of_nanoseconds(nanoseconds);
}

static_assert(skua::duration_like<time_span>);
static_assert(std::is_convertible_v<std::chrono::steady_clock::time_point, instant>);
static_assert(!std::is_convertible_v<std::chrono::system_clock::time_point, instant>,
              "that clock can be set");
static_assert(at(5) + 3ns == at(8));

TEST(time_span, is_any_duration_in_nanoseconds) {
  EXPECT_EQ(time_span(3s).count(), 3'000'000'000);
  EXPECT_EQ(time_span(std::chrono::duration<double>(0.5)).count(), 500'000'000);
  EXPECT_EQ(time_span(std::chrono::hours::max()).count(), largest);
  EXPECT_EQ(time_span(std::chrono::hours::min()).count(), smallest);
  EXPECT_EQ(time_span(), 0s);
}

TEST(time_span, is_compared_with_durations) {
  EXPECT_EQ(time_span(1s), 1'000ms);
  EXPECT_LT(time_span(999us), 1ms);
  EXPECT_GT(time_span(-1ns), -1ms);
  EXPECT_GT(time_span::longest(), 24h);
}

TEST(time_span, becomes_a_duration_again) {
  EXPECT_EQ(time_span(1'999us).to<std::chrono::milliseconds>(), 1ms);
  EXPECT_EQ(time_span(-1'999us).to<std::chrono::milliseconds>(), -1ms);
  EXPECT_EQ(time_span(90min).to<std::chrono::hours>(), 1h);
  EXPECT_DOUBLE_EQ(time_span(90min).to<std::chrono::duration<double>>().count(), 5'400.0);
  EXPECT_EQ(time_span::longest().to<std::chrono::nanoseconds>().count(), largest);
}

TEST(instant, is_moved_by_durations) {
  EXPECT_EQ(at(1'000) + 2us, at(3'000));
  EXPECT_EQ(at(1'000) - 2us, at(-1'000));
  EXPECT_EQ(at(1'000) + -2us, at(-1'000));
  EXPECT_EQ(at(3'000) - at(1'000), 2us);
  EXPECT_LT(at(1), at(2));
}

TEST(instant, does_not_wrap_around) {
  EXPECT_EQ(at(1) + std::chrono::hours::max(), instant::never());
  EXPECT_EQ(at(largest) + 1ns, instant::never());
  EXPECT_EQ(at(-1) + std::chrono::hours::min(), at(smallest));
  EXPECT_EQ(at(-2) - std::chrono::hours::max(), at(smallest));
  EXPECT_EQ(at(0) - std::chrono::hours::min(), instant::never());
  EXPECT_EQ((at(largest) - at(-1)).count(), largest);
  EXPECT_EQ((at(smallest) - at(1)).count(), smallest);
}

TEST(instant, is_a_time_point_of_the_steady_clock) {
  const auto before = std::chrono::steady_clock::now();
  const instant between = skua::now();
  const auto after = std::chrono::steady_clock::now();
  EXPECT_LE(instant(before), between);
  EXPECT_LE(between, instant(after));
  EXPECT_EQ(instant(before + 1s) - instant(before), 1s);
  EXPECT_EQ(instant(std::chrono::steady_clock::time_point::max()), instant::never());
}

class now_of : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, now_of, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(now_of, a_runtime_is_that_of_its_clock) {
  skua::manual_clock clock(5'000);
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.clock = &clock;
  auto rt = skua_test::started(settings);
  auto body = [](skua::manual_clock& time) -> task<> {
    EXPECT_EQ(skua::now(), at(5'000));
    time.advance(2'000);
    EXPECT_EQ(skua::now(), at(7'000));
    const instant in_the_pool = co_await skua::spawn_blocking([] { return skua::now(); });
    EXPECT_EQ(in_the_pool, at(7'000));
  };
  rt.block_on(body(clock));
  EXPECT_GT(skua::now(), at(7'000)) << "outside it is the kernel's";
}

}  // namespace
