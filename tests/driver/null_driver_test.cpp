// tests/driver/null_driver_test.cpp: timers fire once and never early; a wake is never lost.
#include "driver/null_driver.hpp"

#include "driver/timer_wheel.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/random.hpp"
#include "support/budget.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua::manual_clock;
using skua::monotonic_clock;
using skua::no_deadline;
using skua::null_driver;
using skua::timer;

constexpr std::int64_t millisecond = 1'000'000;

/// Notes when it fires, and looks whether that is early.
class noted_timer : public timer {
public:
  explicit noted_timer(const skua::clock& by, std::int64_t when) : timer(note), time_(by) {
    deadline = when;
  }
  [[nodiscard]] int fired() const { return fired_; }
  [[nodiscard]] std::int64_t when() const { return when_; }
  std::vector<std::int64_t>* order = nullptr;

private:
  static void note(timer& self) noexcept {
    auto& mine = static_cast<noted_timer&>(self);
    mine.when_ = mine.time_.now();
    EXPECT_GE(mine.when_, mine.deadline) << "early";
    if (mine.order != nullptr) mine.order->push_back(mine.deadline);
    ++mine.fired_;
  }

  const skua::clock& time_;
  std::atomic<std::int64_t> when_ = 0;
  std::atomic<int> fired_ = 0;
};

TEST(null_driver, counts_from_now_by_a_clock_that_a_test_moves) {
  manual_clock clock(1'000);
  null_driver driver(clock);
  for (const std::int64_t length : {std::int64_t{5}, 2'000 * millisecond}) {
    noted_timer one(clock, 0);
    driver.add_after(one, length);
    EXPECT_EQ(one.deadline, clock.now() + length);
    clock.advance(length - 1);
    driver.poll();
    EXPECT_EQ(one.fired(), 0);
    clock.advance(1);
    driver.poll();
    EXPECT_EQ(one.fired(), 1);
  }
  noted_timer past(clock, 0);
  driver.add_after(past, std::numeric_limits<std::int64_t>::min());
  driver.poll();
  EXPECT_EQ(past.fired(), 1);
}

TEST(null_driver, counts_a_long_time_from_the_next_look_and_before_it_sleeps) {
  const monotonic_clock clock;
  null_driver driver(clock);
  noted_timer is_short(clock, 0), is_long(clock, 0), is_removed(clock, 0);
  driver.add_after(is_removed, 3'600'000 * millisecond);
  EXPECT_TRUE(driver.remove(is_removed));
  EXPECT_FALSE(driver.remove(is_removed));
  const std::int64_t begun = clock.now();
  driver.add_after(is_long, 1'000 * millisecond);
  driver.add_after(is_short, 1);
  driver.park(null_driver::no_limit);
  EXPECT_EQ(is_short.fired(), 1);
  EXPECT_EQ(is_long.fired(), 0);
  const std::int64_t next = driver.next_deadline();
  EXPECT_GE(next, begun + 1'000 * millisecond);
  EXPECT_LE(next, clock.now() + 1'000 * millisecond);
  while (is_long.fired() == 0) driver.park(null_driver::no_limit);
  EXPECT_GE(is_long.when(), begun + 1'000 * millisecond);
}

TEST(null_driver, fires_what_is_due_and_nothing_else) {
  manual_clock clock(1'000);
  null_driver driver(clock);
  noted_timer first(clock, 2'000);
  noted_timer second(clock, 3'000);
  noted_timer late(clock, 500);  // its time has passed
  driver.poll();
  driver.add(first);
  driver.add(second);
  driver.add(late);
  driver.poll();
  EXPECT_EQ(late.fired(), 1);
  clock.advance(999);
  driver.poll();
  EXPECT_EQ(first.fired(), 0);
  clock.advance(1);
  driver.poll();
  EXPECT_EQ(first.fired(), 1);
  EXPECT_EQ(second.fired(), 0);
  clock.advance(1'000'000'000'000);
  driver.poll();
  driver.poll();
  EXPECT_EQ(first.fired(), 1);
  EXPECT_EQ(second.fired(), 1);
}

TEST(null_driver, fires_in_the_order_of_deadlines) {
  manual_clock clock;
  null_driver driver(clock);
  std::vector<std::int64_t> order;
  std::deque<noted_timer> all;
  for (const std::int64_t when : std::vector<std::int64_t>{50, 10, 40 * millisecond, 20, 30}) {
    all.emplace_back(clock, when).order = &order;
    driver.add(all.back());
  }
  clock.advance(100 * millisecond);
  driver.poll();
  EXPECT_EQ(order, (std::vector<std::int64_t>{10, 20, 30, 50, 40 * millisecond}));
}

TEST(null_driver, fires_nothing_that_was_removed) {
  manual_clock clock;
  null_driver driver(clock);
  noted_timer removed(clock, 1'000);
  noted_timer kept(clock, 1'000);
  EXPECT_FALSE(driver.remove(removed)) << "never added";
  driver.add(removed);
  driver.add(kept);
  EXPECT_TRUE(driver.remove(removed));
  EXPECT_FALSE(driver.remove(removed));
  clock.advance(1'000);
  driver.poll();
  EXPECT_EQ(removed.fired(), 0);
  EXPECT_EQ(kept.fired(), 1);
  EXPECT_FALSE(driver.remove(kept)) << "it has fired";
  driver.add(removed);  // may be used again
  driver.poll();
  EXPECT_EQ(removed.fired(), 1);
}

/// Adds itself again when it fires.
struct ticker : timer {
  ticker(null_driver& where, std::int64_t when) noexcept : timer(tick), driver(where) {
    deadline = when;
  }
  static void tick(timer& self) noexcept {
    auto& mine = static_cast<ticker&>(self);
    ++mine.ticks;
    mine.deadline += 10;
    mine.driver.add(mine);
  }
  null_driver& driver;
  int ticks = 0;
};

TEST(null_driver, lets_a_timer_add_itself_again_when_it_fires) {
  manual_clock clock;
  null_driver driver(clock);
  ticker mine(driver, 10);
  driver.add(mine);
  for (int i = 1; i <= 100; ++i) {
    clock.advance(10);
    driver.poll();
    EXPECT_EQ(mine.ticks, i);
  }
  EXPECT_TRUE(driver.remove(mine));
}

TEST(null_driver, wakes_once_for_all_wakes_that_came_before) {
  const monotonic_clock clock;
  null_driver driver(clock);
  EXPECT_FALSE(driver.wake()) << "nobody slept";
  EXPECT_FALSE(driver.wake());
  EXPECT_FALSE(driver.wake());
  driver.park(skua::driver::no_limit);  // returns at once
  noted_timer soon(clock, clock.now() + millisecond);
  driver.add(soon);
  while (soon.fired() == 0) driver.park(skua::driver::no_limit);  // and the second one does not
}

TEST(null_driver, sleeps_until_its_next_timer) {
  const monotonic_clock clock;
  null_driver driver(clock);
  for (int i = 0; i < 20; ++i) {
    noted_timer mine(clock, clock.now() + millisecond);
    noted_timer later(clock, clock.now() + 3'600'000 * millisecond);
    driver.add(later);
    driver.add(mine);
    while (mine.fired() == 0) driver.park(skua::driver::no_limit);
    EXPECT_EQ(later.fired(), 0);
    EXPECT_TRUE(driver.remove(later));
  }
}

TEST(null_driver, does_not_sleep_while_something_is_due) {
  manual_clock clock;
  null_driver driver(clock);
  noted_timer due(clock, -5);
  driver.add(due);
  driver.park(skua::driver::no_limit);
  EXPECT_EQ(due.fired(), 1);
}

/// Its owner on a thread of its own, which sleeps in it over and over.
class parked {
public:
  explicit parked(null_driver& where)
      : driver_(where), owner_([this] {
          tid_ = ::gettid();
          while (!over_) {
            driver_.park(skua::driver::no_limit);
            ++returns_;
          }
        }) {}
  parked(const parked&) = delete;
  parked& operator=(const parked&) = delete;
  ~parked() {
    over_ = true;
    driver_.wake();
    owner_.join();
  }

  /// True when the kernel says that the owner sleeps; false if park() has returned since.
  [[nodiscard]] bool sleeps() {
    const int before = returns_;
    while (returns_ == before) {
      if (tid_ == 0) continue;
      std::ifstream file("/proc/self/task/" + std::to_string(tid_) + "/stat");
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const auto name_end = text.rfind(')');
      if (name_end != std::string::npos && text.substr(name_end, 3) == ") S") return true;
    }
    return false;
  }
  [[nodiscard]] int returns() const { return returns_; }

private:
  null_driver& driver_;
  std::atomic<bool> over_ = false;
  std::atomic<int> returns_ = 0;
  std::atomic<pid_t> tid_ = 0;
  std::thread owner_;
};

TEST(null_driver, is_woken_by_an_earlier_timer_of_another_thread) {
  const monotonic_clock clock;
  null_driver driver(clock);
  noted_timer far(clock, clock.now() + 3'600'000 * millisecond);
  driver.add(far);
  {
    parked owner(driver);
    for (int i = 0; i < 50; ++i) {
      noted_timer near(clock, clock.now() + millisecond / 10);
      driver.add(near);
      while (near.fired() == 0) std::this_thread::yield();
    }
  }
  EXPECT_TRUE(driver.remove(far));
}

TEST(null_driver, is_not_woken_by_a_later_timer_of_another_thread) {
  const monotonic_clock clock;
  null_driver driver(clock);
  noted_timer far(clock, clock.now() + 3'600'000 * millisecond);
  noted_timer further(clock, far.deadline + 1);
  driver.add(far);
  {
    parked owner(driver);
    while (!owner.sleeps()) std::this_thread::yield();
    const int before = owner.returns();
    driver.add(further);
    EXPECT_TRUE(driver.wake()) << "it slept on";
    while (owner.returns() == before) std::this_thread::yield();
    EXPECT_EQ(owner.returns(), before + 1);
  }
  EXPECT_TRUE(driver.remove(far));
  EXPECT_TRUE(driver.remove(further));
}

// A deadline that nobody lives to see; the clocks' sums must not overflow.
TEST(null_driver, sleeps_for_as_long_as_there_is_time) {
  for (const std::int64_t now : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1'000'000}}) {
    for (const std::int64_t when : {no_deadline, no_deadline - 1, no_deadline - 1'000'000}) {
      const manual_clock clock(now);
      null_driver driver(clock);
      noted_timer never(clock, when);
      driver.add(never);
      {
        parked owner(driver);
        EXPECT_TRUE(owner.sleeps()) << when;
      }
      EXPECT_TRUE(driver.remove(never));
    }
  }
  const monotonic_clock real;
  null_driver driver(real);
  noted_timer never(real, no_deadline - 1);
  driver.add(never);
  {
    parked owner(driver);
    EXPECT_TRUE(owner.sleeps());
  }
  EXPECT_TRUE(driver.remove(never));
}

/// Adds timers that are due soon, removes some, and expects of each that it fires, or not, once.
void use_from_a_thread(null_driver& driver, std::uint64_t seed) {
  const monotonic_clock clock;
  skua::random_generator random(seed);
  const skua_test::budget time(0.7);
  while (time.left()) {
    std::deque<noted_timer> all;
    std::vector<bool> removed;
    for (int i = 0; i < 50; ++i) {
      const auto ahead = static_cast<std::int64_t>(random.below(200'000));
      driver.add(all.emplace_back(clock, clock.now() + ahead));
    }
    for (noted_timer& one : all) removed.push_back(random.below(2) == 0 && driver.remove(one));
    for (std::size_t i = 0; i < all.size(); ++i) {
      while (!removed[i] && all[i].fired() == 0) std::this_thread::yield();
      EXPECT_EQ(all[i].fired(), removed[i] ? 0 : 1);
    }
  }
}

TEST(null_driver, fires_each_timer_once_whoever_adds_and_removes) {
  const monotonic_clock clock;
  null_driver driver(clock);
  parked owner(driver);
  std::vector<std::thread> users;
  for (std::uint64_t i = 0; i < 3; ++i)
    users.emplace_back([&driver, i] { use_from_a_thread(driver, 20'261'116 + i); });
  for (std::thread& one : users) one.join();
}

}  // namespace
