// tests/runtime/histograms_test.cpp: how long tasks waited and ran, if the runtime measures it.
#include "skua/base/clock.hpp"
#include "skua/runtime/histogram.hpp"
#include "skua/skua.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using skua::spawn;
using skua::task;
using skua_test::kind;
using skua_test::started;

task<> nothing() {
  co_return;
}
task<> yields(int times) {
  for (int i = 0; i < times; ++i) co_await skua::yield();
}

class histograms : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(one, histograms, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

TEST_P(histograms, have_no_histograms_unless_they_are_asked_for) {
  auto rt = started(GetParam().settings());
  rt.block_on(yields(100));
  EXPECT_EQ(rt.metrics().run_time.count(), 0U);
  EXPECT_EQ(rt.metrics().schedule_latency.count(), 0U);
}

/// A runtime that measures time in a manual clock.
struct measured {
  explicit measured(const kind& which) {
    skua::config with = which.settings();
    with.clock = &clock;
    with.histograms = true;
    rt = std::make_unique<skua::runtime>(started(with));
  }
  skua::manual_clock clock;
  std::unique_ptr<skua::runtime> rt;
};

TEST_P(histograms, have_each_turn_in_both_histograms) {
  measured by(GetParam());
  by.rt->block_on(yields(100));
  EXPECT_EQ(by.rt->metrics().run_time.count(), by.rt->metrics().workers[0].polls);
  EXPECT_EQ(by.rt->metrics().schedule_latency.count(), by.rt->metrics().workers[0].polls);
}

TEST_P(histograms, tell_how_long_turns_were) {
  measured by(GetParam());
  auto body = [](skua::manual_clock& clock) -> task<> {
    clock.advance(1'000);
    co_await skua::yield();
    clock.advance(70'000);
    co_await skua::yield();
    clock.advance(1'000);
  };
  by.rt->block_on(body(by.clock));
  const auto times = by.rt->metrics().run_time;
  EXPECT_EQ(times.max(), 70'000);
  EXPECT_EQ(times.counts[skua::histogram::bucket_of(70'000)], 1U);
  EXPECT_EQ(times.counts[skua::histogram::bucket_of(1'000)], 2U);
}

TEST_P(histograms, tell_how_long_tasks_waited_for_their_turn) {
  measured by(GetParam());
  auto body = [](skua::manual_clock& clock) -> task<> {
    auto first = spawn(nothing());
    clock.advance(55'000);
    auto second = skua::spawn_local(nothing());
    clock.advance(50'000);  // both wait meanwhile, for 105 and 50 microseconds
    co_await std::move(first);
    co_await std::move(second);
  };
  by.rt->block_on(body(by.clock));
  const auto times = by.rt->metrics().schedule_latency;
  EXPECT_EQ(times.max(), 105'000);
  EXPECT_EQ(times.counts[skua::histogram::bucket_of(105'000)], 1U);
  EXPECT_EQ(times.counts[skua::histogram::bucket_of(50'000)], 1U);
}

}  // namespace
