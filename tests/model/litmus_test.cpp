// tests/model/litmus_test.cpp: the explorer shows what the memory model allows, and no more.
#include "model/atomic.hpp"
#include "model/barrier.hpp"
#include "model/explorer.hpp"
#include "model/futex.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>

namespace {

using skua_model::atomic;
using skua_model::exploration;
using skua_model::explorer;
using skua_model::limits;
using skua_model::plain;
using order = std::memory_order;
using ends = std::set<std::string>;

std::string text(int a, int b) {
  return std::to_string(a) + std::to_string(b);
}

/// All results of a two-result scenario. The exploration must be complete.
template <typename Scenario>
ends all_ends(Scenario scenario, int preemptions = 3) {
  ends seen;
  limits within;
  within.preemptions = preemptions;
  const exploration done = explorer::explore(within, [&] { seen.insert(scenario()); });
  EXPECT_TRUE(done.complete);
  return seen;
}

std::string store_buffering(order store, order load) {
  atomic<int> x(0);
  atomic<int> y(0);
  int seen_y = -1;
  int seen_x = -1;
  explorer::run({[&] {
                   x.store(1, store);
                   seen_y = y.load(load);
                 },
                 [&] {
                   y.store(1, store);
                   seen_x = x.load(load);
                 }});
  return text(seen_y, seen_x);
}

TEST(litmus, store_buffering_is_allowed_unless_sequentially_consistent) {
  EXPECT_EQ(all_ends([] { return store_buffering(order::release, order::acquire); }),
            (ends{"00", "01", "10", "11"}));
  EXPECT_EQ(all_ends([] { return store_buffering(order::seq_cst, order::seq_cst); }),
            (ends{"01", "10", "11"}));
}

/// One side is interrupted by a barrier of the other instead of having one of its own.
std::string asymmetric(bool heavy, bool light) {
  atomic<int> x(0);
  atomic<int> y(0);
  int seen_y = -1;
  int seen_x = -1;
  explorer::run({[&] {
                   x.store(1, order::relaxed);
                   if (heavy) skua_model::barrier::heavy();
                   seen_y = y.load(order::relaxed);
                 },
                 [&] {
                   y.store(1, order::relaxed);
                   if (light) skua_model::barrier::light();
                   seen_x = x.load(order::relaxed);
                 }});
  return text(seen_y, seen_x);
}

TEST(litmus, store_buffering_is_excluded_by_a_heavy_and_a_light_barrier_and_needs_both) {
  const ends all{"00", "01", "10", "11"};
  EXPECT_EQ(all_ends([] { return asymmetric(true, true); }), (ends{"01", "10", "11"}));
  EXPECT_EQ(all_ends([] { return asymmetric(false, true); }), all);
  EXPECT_EQ(all_ends([] { return asymmetric(true, false); }), all);
}

TEST(litmus, two_heavy_barriers_exclude_store_buffering_and_two_light_ones_do_not) {
  auto both = [](auto fence) {
    atomic<int> x(0);
    atomic<int> y(0);
    int seen[2] = {-1, -1};
    explorer::run({[&] {
                     x.store(1, order::relaxed);
                     fence();
                     seen[0] = y.load(order::relaxed);
                   },
                   [&] {
                     y.store(1, order::relaxed);
                     fence();
                     seen[1] = x.load(order::relaxed);
                   }});
    return text(seen[0], seen[1]);
  };
  EXPECT_FALSE(all_ends([&] { return both(skua_model::barrier::heavy); }).contains("00"));
  EXPECT_TRUE(all_ends([&] { return both(skua_model::barrier::light); }).contains("00"));
}

TEST(litmus, a_wake_before_the_sleep_is_not_remembered_and_a_word_that_changed_is_not_slept_on) {
  atomic<std::uint32_t>* word = nullptr;
  auto sleep_and_wake = [&](bool changes_the_word) {
    atomic<std::uint32_t> one(0);
    word = &one;
    explorer::run({[&] { (void)skua_model::futex::wait(*word, 0, skua_model::futex::no_deadline); },
                   [&] {
                     if (changes_the_word) word->store(1, order::relaxed);
                     skua_model::futex::wake_one(*word);
                   }});
  };
  EXPECT_TRUE(explorer::explore({}, [&] { sleep_and_wake(true); }).complete);
  EXPECT_EXIT(explorer::explore({}, [&] { sleep_and_wake(false); }),
              testing::ExitedWithCode(explorer::failure_exit_code), "");
}

TEST(litmus, a_sleep_with_a_deadline_ends_by_a_wake_or_by_itself) {
  EXPECT_EQ(all_ends(
                [] {
                  atomic<std::uint32_t> word(0);
                  bool woken = false;
                  explorer::run({[&] { woken = skua_model::futex::wait(word, 0, 1); },
                                 [&] { skua_model::futex::wake_one(word); }});
                  return std::string(woken ? "woken" : "timed out");
                },
                0),
            (ends{"woken", "timed out"}));
}

TEST(litmus, store_buffering_is_excluded_by_read_modify_writes_on_one_object) {
  // What the idle protocol does: push, then look by a read-modify-write.
  EXPECT_EQ(all_ends([] {
              atomic<int> word(0);
              int a = -1;
              int b = -1;
              explorer::run({[&] { a = word.fetch_or(1, order::acq_rel); },
                             [&] { b = word.fetch_or(2, order::acq_rel); }});
              return text(a, b);
            }),
            (ends{"01", "20"}));
}

std::string message_passing(order store, order load) {
  atomic<int> data(0);
  atomic<int> flag(0);
  int seen_flag = -1;
  int seen_data = -1;
  explorer::run({[&] {
                   data.store(1, order::relaxed);
                   flag.store(1, store);
                 },
                 [&] {
                   seen_flag = flag.load(load);
                   seen_data = data.load(order::relaxed);
                 }});
  return text(seen_flag, seen_data);
}

TEST(litmus, message_passing_needs_release_and_acquire) {
  const ends ordered{"00", "01", "11"};
  const ends all{"00", "01", "10", "11"};
  EXPECT_EQ(all_ends([] { return message_passing(order::release, order::acquire); }), ordered);
  EXPECT_EQ(all_ends([] { return message_passing(order::relaxed, order::acquire); }), all);
  EXPECT_EQ(all_ends([] { return message_passing(order::release, order::relaxed); }), all);
}

std::string independent_reads(order store, order load) {
  atomic<int> x(0);
  atomic<int> y(0);
  int first[2] = {-1, -1};
  int second[2] = {-1, -1};
  explorer::run({[&] { x.store(1, store); }, [&] { y.store(1, store); },
                 [&] {
                   first[0] = x.load(load);
                   first[1] = y.load(load);
                 },
                 [&] {
                   second[0] = y.load(load);
                   second[1] = x.load(load);
                 }});
  return text(first[0], first[1]) + text(second[0], second[1]);
}

TEST(litmus, independent_reads_of_independent_writes_may_disagree_unless_sequentially_consistent) {
  EXPECT_TRUE(all_ends([] { return independent_reads(order::release, order::acquire); }, 4)
                  .contains("1010"));
  EXPECT_FALSE(all_ends([] { return independent_reads(order::seq_cst, order::seq_cst); }, 4)
                   .contains("1010"));
}

TEST(litmus, one_object_is_read_forwards) {
  EXPECT_FALSE(all_ends([] {
                 atomic<int> x(0);
                 int a = -1;
                 int b = -1;
                 explorer::run({[&] { x.store(1, order::relaxed); },
                                [&] {
                                  a = x.load(order::relaxed);
                                  b = x.load(order::relaxed);
                                }});
                 return text(a, b);
               }).contains("10"));
}

TEST(litmus, what_another_thread_read_before_cannot_be_unread) {
  EXPECT_FALSE(all_ends(
                   [] {
                     atomic<int> x(0);
                     atomic<int> flag(0);
                     int a = -1;
                     int b = -1;
                     int f = -1;
                     explorer::run({[&] { x.store(1, order::relaxed); },
                                    [&] {
                                      a = x.load(order::relaxed);
                                      flag.store(1, order::release);
                                    },
                                    [&] {
                                      f = flag.load(order::acquire);
                                      b = x.load(order::relaxed);
                                    }});
                     return f == 1 && a == 1 ? text(f, b) : std::string("other");
                   },
                   4)
                   .contains("10"));
}

/// A releases, B's read-modify-write stands between, C acquires.
std::string release_sequence(bool by_read_modify_write) {
  atomic<int> data(0);
  atomic<int> flag(0);
  int seen_flag = -1;
  int seen_data = -1;
  explorer::run({[&] {
                   data.store(1, order::relaxed);
                   flag.store(1, order::release);
                 },
                 [&] {
                   if (by_read_modify_write)
                     flag.fetch_add(1, order::relaxed);
                   else if (flag.load(order::relaxed) == 1)
                     flag.store(2, order::relaxed);
                 },
                 [&] {
                   seen_flag = flag.load(order::acquire);
                   seen_data = data.load(order::relaxed);
                 }});
  return text(seen_flag, seen_data);
}

TEST(litmus, a_read_modify_write_continues_a_release_sequence_and_a_store_ends_it) {
  EXPECT_FALSE(all_ends([] { return release_sequence(true); }).contains("20"));
  EXPECT_TRUE(all_ends([] { return release_sequence(false); }).contains("20"));
}

TEST(litmus, a_read_modify_write_sees_the_last_value) {
  EXPECT_EQ(all_ends([] {
              atomic<int> x(0);
              explorer::run({[&] { x.fetch_add(1, order::relaxed); },
                             [&] { x.fetch_add(1, order::relaxed); },
                             [&] { x.fetch_add(1, order::relaxed); }});
              return std::to_string(x.load(order::relaxed));
            }),
            (ends{"3"}));
}

TEST(litmus, a_failed_exchange_may_see_a_stale_value) {
  const ends seen = all_ends([] {
    atomic<int> x(0);
    int expected = 7;
    explorer::run(
        {[&] { x.store(1, order::relaxed); },
         [&] { x.compare_exchange_strong(expected, 9, order::acq_rel, order::relaxed); }});
    return std::to_string(expected);
  });
  EXPECT_EQ(seen, (ends{"0", "1"}));
}

TEST(litmus, a_mutex_excludes_and_orders) {
  EXPECT_EQ(all_ends([] {
              skua_model::mutex lock;
              plain<int> count(0);
              auto add = [&] {
                lock.lock();
                count.write(count.read() + 1);
                lock.unlock();
              };
              explorer::run({add, add});
              return std::to_string(count.read());
            }),
            (ends{"2"}));
}

void race(order publish) {
  plain<int> data(0);
  atomic<int> flag(0);
  explorer::run({[&] {
                   data.write(1);
                   flag.store(1, publish);
                 },
                 [&] {
                   if (flag.load(order::acquire) == 1) (void)data.read();
                 }});
}

TEST(litmus, a_data_race_is_reported_and_an_ordered_use_is_not) {
  explorer::explore({}, [] { race(order::release); });
  EXPECT_EXIT(explorer::explore({}, [] { race(order::relaxed); }),
              testing::ExitedWithCode(explorer::failure_exit_code), "");
}

TEST(litmus, a_deadlock_is_reported) {
  auto crossed = [] {
    skua_model::mutex a;
    skua_model::mutex b;
    explorer::run({[&] {
                     a.lock();
                     b.lock();
                     b.unlock();
                     a.unlock();
                   },
                   [&] {
                     b.lock();
                     a.lock();
                     a.unlock();
                     b.unlock();
                   }});
  };
  EXPECT_EXIT(explorer::explore({}, crossed), testing::ExitedWithCode(explorer::failure_exit_code),
              "");
}

/// Needs three preemptions: each thread interrupts the other between its two steps, twice.
void needs_three_preemptions() {
  atomic<int> x(0);
  int seen[4] = {};
  explorer::run({[&] {
                   x.store(1, order::seq_cst);
                   seen[0] = x.load(order::seq_cst);
                   x.store(3, order::seq_cst);
                   seen[1] = x.load(order::seq_cst);
                 },
                 [&] {
                   x.store(2, order::seq_cst);
                   seen[2] = x.load(order::seq_cst);
                   x.store(4, order::seq_cst);
                   seen[3] = x.load(order::seq_cst);
                 }});
  explorer::expect(!(seen[0] == 2 && seen[2] == 3 && seen[1] == 4), "three preemptions deep");
}

TEST(litmus, the_bound_limits_and_random_search_goes_beyond_it) {
  limits two;
  two.preemptions = 1;
  EXPECT_TRUE(explorer::explore(two, needs_three_preemptions).complete);
  limits random;
  random.preemptions = 3;
  random.random_executions = 20'000;
  EXPECT_EXIT(explorer::explore(random, needs_three_preemptions),
              testing::ExitedWithCode(explorer::failure_exit_code), "");
}

TEST(litmus, a_failure_prints_choices_that_lead_there_again) {
  limits within;
  within.preemptions = 3;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    explorer::explore(within, needs_three_preemptions);
    std::_Exit(0);
  }
  close(pipe_ends[1]);
  std::string printed;
  char buffer[256];
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    printed.append(buffer, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), explorer::failure_exit_code) << printed;
  const std::string mark = "replay with: ";
  limits again = within;
  again.replay = printed.substr(printed.find(mark) + mark.size());
  again.replay.pop_back();  // the end of the line
  EXPECT_EXIT(explorer::explore(again, needs_three_preemptions),
              testing::ExitedWithCode(explorer::failure_exit_code), "");
}

}  // namespace
