// tests/model/parker_test.cpp: wakes against sleeps and deadlines: no token is lost, none invented.
#include "driver/parker.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/futex.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::futex;
using parker = skua::parker<skua_model::atomics, futex>;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

constexpr std::int64_t soon = 1;  // any deadline: it may pass at any time

/// Wakers leave a letter each and wake; the owner sleeps until it has all letters. What it does not
/// see after a wake it will wait for in vain, which the explorer calls a deadlock.
class letters {
public:
  explicit letters(std::size_t expected) : expected_(expected) { futex::spurious_left = 0; }

  void send(std::size_t index) {
    letters_[index].store(1, order::relaxed);
    ++wakes;
    owner.wake();
  }
  [[nodiscard]] bool all_here() const {
    for (std::size_t i = 0; i < expected_; ++i)
      if (letters_[i].load(order::relaxed) == 0) return false;
    return true;
  }
  void count(bool token) { tokens += token ? 1 : 0; }
  void sleep_until_all_are_here() {
    while (!all_here()) {
      const bool token = owner.park(parker::no_deadline);
      explorer::expect(token, "without a deadline only a token ends the sleep");
      count(token);
    }
  }
  /// At the end, by the scenario.
  void expect_no_token_lost_or_invented() {
    explorer::expect(tokens <= wakes, "no more tokens than wakes");
    count(owner.try_consume());
    explorer::expect(tokens <= wakes, "a token is consumed once");
    explorer::expect(wakes == 0 || tokens > 0, "wakes leave a token");
    explorer::expect(!owner.park(soon), "and now there is none left");
  }

  parker owner;
  int wakes = 0;
  int tokens = 0;

private:
  std::size_t expected_;
  std::array<skua_model::atomic<int>, 2> letters_;
};

void one_waker() {
  letters all(1);
  explorer::run({[&] { all.sleep_until_all_are_here(); }, [&] { all.send(0); }});
  all.expect_no_token_lost_or_invented();
}

void two_wakers() {
  letters all(2);
  futex::spurious_left = 1;
  explorer::run(
      {[&] { all.sleep_until_all_are_here(); }, [&] { all.send(0); }, [&] { all.send(1); }});
  all.expect_no_token_lost_or_invented();
}

/// Sleeps with a deadline that may pass at any moment, then without.
void deadlines() {
  letters all(2);
  explorer::run({[&] {
                   all.count(all.owner.park(soon));
                   all.count(all.owner.park(soon));
                   all.sleep_until_all_are_here();
                 },
                 [&] {
                   all.send(0);
                   all.send(1);
                 }});
  all.expect_no_token_lost_or_invented();
}

/// A wake that came to nothing: the owner was awake and had seen the letter. Its token is left over
/// and ends one later sleep, not two, and does not hide the wake that is meant for that.
void left_over_token() {
  letters all(2);
  all.send(0);
  explorer::run({[&] { all.sleep_until_all_are_here(); }, [&] { all.send(1); }});
  all.expect_no_token_lost_or_invented();
}

/// Takes tokens without sleeping in between.
void tokens_taken_awake() {
  letters all(2);
  explorer::run({[&] {
                   all.count(all.owner.try_consume());
                   if (all.all_here()) return;
                   all.count(all.owner.try_consume());
                   all.sleep_until_all_are_here();
                 },
                 [&] { all.send(0); }, [&] { all.send(1); }});
  all.expect_no_token_lost_or_invented();
}

/// A token taken awake brings the letter, and so does one that came with the deadline.
void a_token_brings_its_letter() {
  letters all(1);
  explorer::run({[&] {
                   const bool token = all.owner.try_consume() || all.owner.park(soon);
                   explorer::expect(!token || all.all_here(), "a token brings its letter");
                 },
                 [&] { all.send(0); }});
}

void a_token_taken_awake_brings_its_letter() {
  letters all(1);
  explorer::run({[&] {
                   if (all.owner.try_consume())
                     explorer::expect(all.all_here(), "a token brings its letter");
                 },
                 [&] { all.send(0); }});
}

/// Who wakes a sleeper makes a system call for it, who does not need to makes none.
void system_calls() {
  letters all(1);
  int calls = 0;
  explorer::run({[&] { all.count(all.owner.park(parker::no_deadline)); },
                 [&] { calls += all.owner.wake() ? 1 : 0; },
                 [&] { calls += all.owner.wake() ? 1 : 0; }});
  explorer::expect(calls <= 1, "one sleep needs one call");
  explorer::expect(all.tokens == 1, "woken");
}

TEST(parker_model, no_token_is_lost_or_invented) {
  skua_model::expect_clean("one waker", bound(3), one_waker);
  skua_model::expect_clean("two wakers", bound(2), two_wakers);
  skua_model::expect_clean("deadlines", bound(3), deadlines);
  skua_model::expect_clean("left-over token", bound(3), left_over_token);
  skua_model::expect_clean("tokens taken awake", bound(2), tokens_taken_awake);
  skua_model::expect_clean("a token brings its letter", bound(3), a_token_brings_its_letter);
  skua_model::expect_clean("system calls", bound(3), system_calls);
}

TEST(parker_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::notify(", side::release}, bound(2), one_waker);
  expect_killed({"::announce(", side::acquire}, bound(2), one_waker);
  expect_killed({"::try_end(", side::acquire}, bound(2), one_waker);
  expect_killed({"::try_consume(", side::acquire}, bound(2), a_token_taken_awake_brings_its_letter);
}

TEST(parker_model, deeper) {
  skua_model::expect_clean_as_far_as(3, {{"two wakers", two_wakers},
                                         {"deadlines", deadlines},
                                         {"tokens taken awake", tokens_taken_awake}});
}

}  // namespace
