// tests/model/watch_post_test.cpp: while one is awake and another sleeps, an alarm is set.
#include "sched/watch_post.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace {

using skua_model::bound;
using skua_model::explorer;
using post = skua::watch_post<skua_model::atomics>;

/// Workers, and the alarms that were set for them.
struct workers {
  explicit workers(std::size_t count) : watch(count), alarms(count, false) {}

  void set(std::size_t whose) {
    if (whose != post::none) alarms[whose] = true;
  }
  void sleeps(std::size_t worker) { set(watch.sleeps(worker)); }
  void wakes(std::size_t worker) { set(watch.wakes(worker)); }
  /// Asleep, if its alarm is set.
  void alarm_goes_off(std::size_t worker) {
    if (!alarms[worker]) return;
    alarms[worker] = false;
    set(watch.alarm_went_off(worker));
  }

  void expect_guarded() {
    bool awake = false;
    bool asleep = false;
    bool guarded = false;
    for (std::size_t i = 0; i < alarms.size(); ++i) {
      const bool sleeping = watch.is_asleep(i);
      asleep = asleep || sleeping;
      awake = awake || !sleeping;
      // An alarm counts if it leads to another: if it went off now, would it be set again?
      if (sleeping && alarms[i] && watch.alarm_went_off(i) == i) guarded = true;
    }
    explorer::expect(guarded || !awake || !asleep, "somebody is awake, and nobody looks");
  }

  post watch;
  std::vector<char> alarms;
};

void one_falls_asleep_as_the_other_wakes() {
  workers all(2);
  all.sleeps(0);
  explorer::run({[&] { all.wakes(0); }, [&] { all.sleeps(1); }});
  all.expect_guarded();
}

void the_guard_wakes_as_another_falls_asleep() {
  workers all(3);
  all.sleeps(0);  // the guard
  explorer::run({[&] { all.wakes(0); }, [&] { all.sleeps(1); }, [&] { all.sleeps(2); }});
  all.expect_guarded();
}

void all_sleep_and_one_wakes_as_the_alarm_goes_off() {
  workers all(2);
  all.sleeps(0);
  all.sleeps(1);
  explorer::run({[&] { all.alarm_goes_off(0); }, [&] { all.wakes(1); }});
  all.expect_guarded();
}

void two_wake_and_one_sleeps_again() {
  workers all(3);
  all.sleeps(0);
  all.sleeps(1);
  all.sleeps(2);
  all.alarm_goes_off(0);  // there is no guard
  explorer::run({[&] { all.wakes(0); },
                 [&] {
                   all.wakes(1);
                   all.sleeps(1);
                 },
                 [&] { all.alarm_goes_off(2); }});
  all.expect_guarded();
}

void both_change_all_the_time() {
  workers all(2);
  explorer::run({[&] {
                   all.sleeps(0);
                   all.alarm_goes_off(0);
                   all.wakes(0);
                 },
                 [&] {
                   all.sleeps(1);
                   all.wakes(1);
                   all.sleeps(1);
                 }});
  all.expect_guarded();
}

TEST(watch_post_model, somebody_looks) {
  skua_model::expect_clean("falls asleep", bound(3), one_falls_asleep_as_the_other_wakes);
  skua_model::expect_clean("guard wakes", bound(2), the_guard_wakes_as_another_falls_asleep);
  skua_model::expect_clean("alarm", bound(3), all_sleep_and_one_wakes_as_the_alarm_goes_off);
  skua_model::expect_clean("two wake", bound(2), two_wake_and_one_sleeps_again);
  skua_model::expect_clean("all the time", bound(2), both_change_all_the_time);
}

}  // namespace
