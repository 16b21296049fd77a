// tests/driver/timer_wheel_test.cpp: never early, never late, in order; at every scale of time.
#include "driver/timer_wheel.hpp"

#include "skua/base/random.hpp"
#include "support/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace {

using skua::no_deadline;
using skua::timer_list;
using times = std::vector<std::int64_t>;

constexpr std::int64_t tick = 1 << 18;  // a slot of the lowest level
constexpr std::int64_t first_moment = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t year = second * 3600 * 24 * 365;

struct probe : skua::timer {
  probe() : timer([](skua::timer& self) noexcept { ++static_cast<probe&>(self).fired; }) {}
  explicit probe(std::int64_t at) : probe() { deadline = at; }
  int fired = 0;
};

/// What advance(now) hands out, all of it idle again.
std::vector<skua::timer*> due(skua::timer_wheel& wheel, std::int64_t now) {
  timer_list expired;
  wheel.advance(now, expired);
  std::vector<skua::timer*> all;
  while (skua::timer* one = expired.pop_front()) all.push_back(one);
  return all;
}

times deadlines_due(skua::timer_wheel& wheel, std::int64_t now) {
  times all;
  for (const skua::timer* one : due(wheel, now)) all.push_back(one->deadline);
  return all;
}

/// A wheel with a timer for each of the deadlines; what is left in it at the end leaves it.
class filled {
public:
  filled(std::int64_t now, const times& deadlines) : wheel(now) {
    for (const std::int64_t each : deadlines) add(each, now);
  }
  filled(const filled&) = delete;
  filled& operator=(const filled&) = delete;
  ~filled() {
    for (const auto& each : timers) wheel.remove(*each);
  }
  probe& add(std::int64_t deadline, std::int64_t now) {
    timers.push_back(std::make_unique<probe>(deadline));
    wheel.insert(*timers.back(), now);
    return *timers.back();
  }

  skua::timer_wheel wheel;
  std::vector<std::unique_ptr<probe>> timers;
};

TEST(timer_wheel, is_empty_at_first) {
  skua::timer_wheel wheel(0);
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.size(), 0U);
  EXPECT_EQ(wheel.next_deadline(), no_deadline);
  EXPECT_EQ(deadlines_due(wheel, year), times{});
}

TEST(timer_wheel, hands_a_timer_out_at_its_deadline_and_not_a_nanosecond_before) {
  for (const std::int64_t delay :
       {std::int64_t{1}, tick - 1, tick, tick + 1, 1024 * tick - 1, 1024 * tick, 5 * second,
        3600 * second + 7, year + 123'456'789, 100 * year + 1}) {
    for (const std::int64_t start : {std::int64_t{0}, 1023 * tick + 5, 17 * year + 3, -year}) {
      filled at(start, {start + delay});
      EXPECT_EQ(deadlines_due(at.wheel, start + delay - 1), times{}) << delay;
      EXPECT_EQ(at.wheel.next_deadline(), start + delay);
      EXPECT_EQ(deadlines_due(at.wheel, start + delay), times{start + delay}) << delay;
      EXPECT_TRUE(at.wheel.empty());
    }
  }
}

TEST(timer_wheel, hands_out_only_what_is_due_of_the_current_slot) {
  filled at(0, {300, 100, 200});
  EXPECT_EQ(deadlines_due(at.wheel, 99), times{});
  EXPECT_EQ(deadlines_due(at.wheel, 200), (times{100, 200}));
  EXPECT_EQ(at.wheel.size(), 1U);
  EXPECT_EQ(at.wheel.next_deadline(), 300);
  EXPECT_EQ(deadlines_due(at.wheel, 300), times{300});
}

TEST(timer_wheel, hands_out_only_what_is_due_of_an_upper_slot) {
  const std::int64_t hour = 3600 * second;
  filled at(0, {hour, hour + 1, hour + tick, hour + second});
  EXPECT_EQ(deadlines_due(at.wheel, hour), times{hour});
  EXPECT_EQ(at.wheel.next_deadline(), hour + 1);
  EXPECT_EQ(deadlines_due(at.wheel, hour + tick - 1), times{hour + 1});
  EXPECT_EQ(at.wheel.next_deadline(), hour + tick);
  EXPECT_EQ(deadlines_due(at.wheel, hour + second), (times{hour + tick, hour + second}));
}

TEST(timer_wheel, hands_out_in_exact_order_of_deadline) {
  times deadlines = {
      500,      3 * tick,    year, 400,      second,      3 * tick - 1,    1030 * tick,
      2 * year, 1029 * tick, 100,  year - 1, 5000 * tick, 5000 * tick - 1, 4999 * tick,
      300,      200};
  filled at(0, deadlines);
  std::ranges::sort(deadlines);
  EXPECT_EQ(deadlines_due(at.wheel, 3 * year), deadlines);
}

TEST(timer_wheel, hands_out_equal_deadlines_in_order_of_insertion) {
  skua::timer_wheel wheel(0);
  std::vector<std::unique_ptr<probe>> timers;
  std::vector<skua::timer*> early, late;
  const auto insert = [&](std::int64_t deadline, std::int64_t now) {
    timers.push_back(std::make_unique<probe>(deadline));
    wheel.insert(*timers.back(), now);
    return timers.back().get();
  };
  for (int i = 0; i < 40; ++i) {  // in turns, so that the slot has to be sorted
    late.push_back(insert(9 * second + 1, 0));
    early.push_back(insert(9 * second, 0));
  }
  EXPECT_TRUE(due(wheel, 9 * second - 2 * tick).empty());  // they move down
  for (int i = 0; i < 40; ++i) {
    early.push_back(insert(9 * second, 9 * second - 2 * tick));
    late.push_back(insert(9 * second + 1, 9 * second - 2 * tick));
  }
  early.insert(early.end(), late.begin(), late.end());
  EXPECT_EQ(due(wheel, 10 * second), early);
}

TEST(timer_wheel, sorts_many_timers_of_one_slot) {
  skua::random_generator random(1);
  times deadlines;
  for (int i = 0; i < 10'000; ++i)
    deadlines.push_back(year + static_cast<std::int64_t>(random.below(second)));
  filled at(0, deadlines);
  std::ranges::sort(deadlines);
  EXPECT_EQ(deadlines_due(at.wheel, 2 * year), deadlines);
}

TEST(timer_wheel, appends_to_what_was_handed_out_before) {
  filled at(0, {2, 1, tick});
  timer_list expired;
  at.wheel.advance(2, expired);
  at.wheel.advance(tick, expired);
  times all;
  while (const skua::timer* one = expired.pop_front()) all.push_back(one->deadline);
  EXPECT_EQ(all, (times{1, 2, tick}));
}

TEST(timer_wheel, hands_out_a_past_deadline_at_the_next_advance) {
  const std::int64_t now = year;
  filled at(now, {now, now - 1, 0, now - second, -5, now + 1});
  EXPECT_EQ(at.wheel.next_deadline(), -5);
  EXPECT_EQ(deadlines_due(at.wheel, now), (times{-5, 0, now - second, now - 1, now}));
  EXPECT_EQ(at.wheel.next_deadline(), now + 1);
}

TEST(timer_wheel, that_was_empty_for_years_neither_fires_early_nor_late) {
  for (const bool advanced : {false, true}) {
    filled at(0, {});
    const std::int64_t now = 3 * year + 12'345;
    const times nothing = advanced ? deadlines_due(at.wheel, now) : times{};
    EXPECT_EQ(nothing, times{});
    at.add(now + 100 * tick, now);
    EXPECT_EQ(at.wheel.next_deadline(), now + 100 * tick);
    EXPECT_EQ(deadlines_due(at.wheel, now + 100 * tick - 1), times{});
    EXPECT_EQ(deadlines_due(at.wheel, now + 100 * tick), times{now + 100 * tick});
  }
}

TEST(timer_wheel, whose_time_stood_still_while_not_empty_files_new_timers_right) {
  filled at(0, {10 * second, year});
  at.add(10 * second + tick, 10 * second - tick);  // nobody has called advance() for long
  EXPECT_EQ(at.wheel.next_deadline(), 10 * second);
  EXPECT_EQ(deadlines_due(at.wheel, 10 * second - 1), times{});
  EXPECT_EQ(deadlines_due(at.wheel, 10 * second), times{10 * second});
  EXPECT_EQ(deadlines_due(at.wheel, year), (times{10 * second + tick, year}));
}

TEST(timer_wheel, takes_a_clock_that_was_read_before_the_last_advance) {
  filled at(0, {100 * second});
  EXPECT_EQ(deadlines_due(at.wheel, 10 * second), times{});
  at.add(10 * second + 30 * tick, 10 * second);
  at.add(9 * second, 8 * second);
  at.add(11 * second, 8 * second);
  at.add(8 * second, 7 * second);
  EXPECT_EQ(at.wheel.next_deadline(), 8 * second);
  EXPECT_EQ(deadlines_due(at.wheel, 7 * second), times{});
  EXPECT_EQ(deadlines_due(at.wheel, 8 * second), times{8 * second});
  EXPECT_EQ(at.wheel.next_deadline(), 9 * second);
  EXPECT_EQ(deadlines_due(at.wheel, 11 * second),
            (times{9 * second, 10 * second + 30 * tick, 11 * second}));
  EXPECT_EQ(deadlines_due(at.wheel, 100 * second), times{100 * second});
}

TEST(timer_wheel, takes_a_clock_that_is_ahead_of_the_next_advance) {
  filled at(0, {});
  at.add(20 * second, 15 * second);
  at.add(12 * second, 11 * second);
  EXPECT_EQ(deadlines_due(at.wheel, 12 * second - 1), times{});
  EXPECT_EQ(deadlines_due(at.wheel, 12 * second), times{12 * second});
  EXPECT_EQ(deadlines_due(at.wheel, 20 * second), times{20 * second});
}

TEST(timer_wheel, covers_all_that_an_int64_can_hold) {
  const times all = {first_moment, first_moment + 1, -1, 0, 1, no_deadline - 1, no_deadline};
  filled at(first_moment, {no_deadline, 0, first_moment + 1, -1, no_deadline - 1, first_moment, 1});
  times seen;
  for (const std::int64_t each : all) {
    EXPECT_EQ(at.wheel.next_deadline(), each);
    if (each > first_moment) {
      EXPECT_EQ(deadlines_due(at.wheel, each - 1), times{}) << each;
    }
    const times found = deadlines_due(at.wheel, each);
    seen.insert(seen.end(), found.begin(), found.end());
  }
  EXPECT_EQ(seen, all);
  filled again(first_moment, all);
  EXPECT_EQ(deadlines_due(again.wheel, no_deadline), all);
}

TEST(timer_wheel, keeps_a_timer_without_deadline_until_it_is_removed) {
  filled at(0, {no_deadline});
  EXPECT_EQ(at.wheel.next_deadline(), no_deadline);
  EXPECT_EQ(deadlines_due(at.wheel, no_deadline - 1), times{});
  EXPECT_EQ(at.wheel.size(), 1U);
  EXPECT_TRUE(at.wheel.remove(*at.timers[0]));
  EXPECT_TRUE(at.wheel.empty());
}

TEST(timer_wheel, jumps_over_years_without_counting_ticks) {
  for (int round = 0; round < 10'000; ++round) {  // tick by tick, each would take hours
    filled at(0, {no_deadline, second, 250 * year});
    ASSERT_EQ(deadlines_due(at.wheel, 250 * year - 1), times{second});
    ASSERT_EQ(deadlines_due(at.wheel, no_deadline - 1), times{250 * year});
  }
}

TEST(timer_wheel, remove_takes_a_timer_out_once) {
  filled at(0, {tick, year});
  EXPECT_TRUE(at.timers[0]->linked());
  EXPECT_TRUE(at.wheel.remove(*at.timers[0]));
  EXPECT_FALSE(at.timers[0]->linked());
  EXPECT_FALSE(at.wheel.remove(*at.timers[0]));
  EXPECT_EQ(at.wheel.size(), 1U);
  EXPECT_EQ(at.wheel.next_deadline(), year);
  EXPECT_EQ(deadlines_due(at.wheel, 2 * year), times{year});
  probe never_inserted;
  EXPECT_FALSE(at.wheel.remove(never_inserted));
}

TEST(timer_wheel, remove_finds_a_timer_that_moved_down) {
  filled at(0, {10 * second, 10 * second + 3 * tick, year});
  EXPECT_EQ(deadlines_due(at.wheel, 10 * second), times{10 * second});
  EXPECT_EQ(at.wheel.next_deadline(), 10 * second + 3 * tick);
  EXPECT_TRUE(at.wheel.remove(*at.timers[1]));
  EXPECT_EQ(at.wheel.next_deadline(), year);
}

TEST(timer_wheel, remove_refuses_what_was_handed_out_and_leaves_it_on_that_list) {
  filled at(0, {1, 2});
  timer_list expired;
  at.wheel.advance(2, expired);
  EXPECT_FALSE(at.timers[0]->linked());
  EXPECT_TRUE(at.timers[0]->is_linked());
  EXPECT_FALSE(at.wheel.remove(*at.timers[0]));
  EXPECT_EQ(expired.pop_front(), at.timers[0].get());
  EXPECT_EQ(expired.pop_front(), at.timers[1].get());
}

TEST(timer_wheel, never_calls_fire_itself) {
  filled at(0, {1, tick, year});
  for (const std::int64_t now : {std::int64_t{1}, tick, year}) {
    for (skua::timer* one : due(at.wheel, now)) {
      EXPECT_EQ(static_cast<probe*>(one)->fired, 0);
      one->fire(*one);
      EXPECT_EQ(static_cast<probe*>(one)->fired, 1);
    }
  }
}

TEST(timer_wheel, takes_a_timer_again) {
  skua::timer_wheel wheel(0);
  probe one;
  for (std::int64_t now = 0; now < 3000 * tick; now = one.deadline) {
    one.deadline = now + 3 * tick / 2;
    wheel.insert(one, now);
    ASSERT_EQ(deadlines_due(wheel, one.deadline - 1), times{});
    ASSERT_EQ(deadlines_due(wheel, one.deadline), times{one.deadline});
  }
}

TEST(timer_wheel, wakes_at_most_once_for_a_removed_timer) {
  for (const std::int64_t base : {std::int64_t{0}, second, year}) {
    filled at(0, {base + 10, base + 20, base + 30, base + 40});
    EXPECT_TRUE(at.wheel.remove(*at.timers[0]));
    EXPECT_TRUE(at.wheel.remove(*at.timers[1]));
    EXPECT_EQ(at.wheel.next_deadline(), base + 10);
    EXPECT_EQ(deadlines_due(at.wheel, base + 10), times{});
    EXPECT_EQ(at.wheel.next_deadline(), base + 30);
    EXPECT_TRUE(at.wheel.remove(*at.timers[2]));
    EXPECT_TRUE(at.wheel.remove(*at.timers[3]));
    EXPECT_EQ(at.wheel.next_deadline(), no_deadline);
    at.add(base + 50, base);  // the slot has forgotten what was in it
    EXPECT_EQ(at.wheel.next_deadline(), base + 50);
  }
}

TEST(timer_wheel, refuses_a_timer_that_is_in_it) {
  filled at(0, {year});
  EXPECT_DEATH(at.wheel.insert(*at.timers[0], 0), "an element enters a list unlinked");
}

TEST(timer_wheel, dies_empty) {
  probe only(1);
  EXPECT_DEATH(
      {
        skua::timer_wheel wheel(0);
        wheel.insert(only, 0);
      },
      "a timer wheel dies empty");
}

/// The wheel beside a sorted map that does the same, compared after every call.
class comparison {
public:
  explicit comparison(skua::random_generator& random)
      : random_(random),
        scale_(1 + random.below(62)),
        removes_(random.below(3) != 0),
        now_(a_start()),
        wheel_(now_) {}
  comparison(const comparison&) = delete;
  comparison& operator=(const comparison&) = delete;
  ~comparison() {
    for (probe& each : timers_) wheel_.remove(each);
  }

  void step() {
    const std::uint64_t choice = random_.below(10);
    if (choice < 5) {
      insert();
    } else if (choice < 7) {
      remove();
    } else if (choice < 8) {
      if (wheel_.next_deadline() != no_deadline) advance(wheel_.next_deadline());  // as a driver
    } else {
      advance(moved(now_, distance()));
    }
    compare();
  }
  [[nodiscard]] bool time_has_ended() const { return now_ == no_deadline; }
  [[nodiscard]] std::uint64_t handed_out() const { return handed_out_; }

private:
  using model = std::multimap<std::int64_t, skua::timer*>;  // equal keys in order of insertion

  std::int64_t a_start() {
    const times starts = {0, -1, year, -year, first_moment, no_deadline - year};
    const std::size_t choice = random_.below(starts.size() + 1);
    return choice < starts.size() ? starts[choice] : static_cast<std::int64_t>(random_.next());
  }
  /// Of any magnitude up to that of this round, now and then above it.
  std::int64_t distance() {
    const std::uint64_t bits = random_.below(random_.below(100) == 0 ? 63 : scale_ + 1);
    return static_cast<std::int64_t>(random_.below(std::uint64_t{1} << bits));
  }
  static std::int64_t moved(std::int64_t from, std::int64_t by) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(from, by, &sum)) return sum;
    return by > 0 ? no_deadline : first_moment;
  }
  /// Mostly in the future; near to another timer's now and then, or a value at the border.
  std::int64_t a_deadline() {
    switch (random_.below(12)) {
      case 0:
        return moved(now_, -distance());
      case 1:
        return random_.below(2) == 0 ? no_deadline : first_moment;
      case 2:
        return moved(any().deadline, static_cast<std::int64_t>(random_.below(5)) - 2);
      case 3:
        return any().deadline;
      case 4:  // the start of a slot of any level
        return moved(now_, distance()) & -(std::int64_t{1} << random_.below(63));
      default:
        return moved(now_, distance());
    }
  }
  /// A reading of the clock that may be somewhat old, or newer than the last advance.
  std::int64_t a_reading() {
    const std::uint64_t choice = random_.below(6);
    if (choice > 1) return now_;
    return moved(now_, choice == 0 ? -distance() : distance());
  }
  probe& any() { return timers_[random_.below(timers_.size())]; }

  void insert() {
    probe& one = any();
    if (one.linked()) return;
    one.deadline = a_deadline();
    wheel_.insert(one, a_reading());
    waiting_.emplace(one.deadline, &one);
  }
  void remove() {
    probe& one = any();
    if (one.linked() && !removes_) return;
    const auto [from, to] = waiting_.equal_range(one.deadline);
    const auto found =
        std::find_if(from, to, [&](const auto& each) { return each.second == &one; });
    ASSERT_EQ(wheel_.remove(one), found != to);
    if (found == to) return;
    waiting_.erase(found);
    removed_.insert(one.deadline);
  }
  void advance(std::int64_t now) {
    if (random_.below(8) == 0) now = a_reading();
    std::vector<skua::timer*> expected;
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
      expected.push_back(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    ASSERT_EQ(due(wheel_, now), expected) << "at " << now;
    handed_out_ += expected.size();
    now_ = std::max(now_, now);
    removed_.erase(removed_.begin(), removed_.upper_bound(now));  // wakes for nothing, once
    if (!waiting_.empty()) {
      ASSERT_GT(wheel_.next_deadline(), now);
    }
  }
  void compare() const {
    ASSERT_EQ(wheel_.size(), waiting_.size());
    ASSERT_EQ(wheel_.empty(), waiting_.empty());
    const std::int64_t next = wheel_.next_deadline();
    const std::int64_t earliest = waiting_.empty() ? no_deadline : waiting_.begin()->first;
    if (next == earliest) return;
    ASSERT_LT(next, earliest);
    ASSERT_FALSE(waiting_.empty());
    ASSERT_TRUE(removed_.contains(next)) << next << " was never the deadline of a removed timer";
  }

  skua::random_generator& random_;
  std::uint64_t scale_;  // bits of most distances
  bool removes_;
  std::int64_t now_;  // the latest that the wheel was advanced to
  skua::timer_wheel wheel_;
  std::vector<probe> timers_ = std::vector<probe>(200);
  model waiting_;
  std::set<std::int64_t> removed_;  // deadlines that next_deadline() may still give
  std::uint64_t handed_out_ = 0;
};

TEST(timer_wheel_fuzz, agrees_with_a_sorted_map_after_any_sequence_of_calls) {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  skua::random_generator random(seed);
  std::uint64_t rounds = 0, handed_out = 0;
  for (const skua_test::budget time(2); time.left(); ++rounds) {
    comparison both(random);
    for (int i = 0; i < 1000; ++i) {
      if (both.time_has_ended() && random.below(30) == 0) break;
      both.step();
      if (testing::Test::HasFatalFailure()) return;
    }
    handed_out += both.handed_out();
  }
  std::printf("%llu rounds, %llu timers handed out\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(handed_out));
  EXPECT_GT(handed_out, 0U);
}

}  // namespace
