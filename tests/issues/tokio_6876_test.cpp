// tests/issues/tokio_6876_test.cpp: work waited at a busy worker, and another slept without a look.
//
// Tokio 6876: a task was queued on a worker that then was busy for long. The other worker was about
// to sleep; it had not been allowed to search, so it did not look once more, and nobody woke it:
// the one that had searched had found its own work before there was anybody to wake.
//
// Here every worker that parks while nobody searches looks once more (idle::park()), who finds work
// then searches again and so wakes a successor, and who moves a batch to its own queue wakes
// somebody for it, since it was in no queue for a moment (worker::rest(), next_injected()).
#include "model/crew.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>

namespace {

using skua_model::bound;
using skua_model::crew;
using skua_model::explorer;
using skua_model::limits;

void two_pieces_from_outside() {
  crew all(2, 2);
  all.pieces_need_each_other = true;
  explorer::run({[&] { all.labour(0); }, [&] { all.labour(1); },
                 [&] {
                   all.add();
                   all.add();
                 }});
  all.expect_all_done();
}

/// Two of three workers sleep already; the third is about to.
void three_pieces_and_one_awake() {
  crew all(3, 3);
  all.pieces_need_each_other = true;
  all.asleep(1);
  all.asleep(2);
  explorer::run({[&] { all.labour(0); }, [&] { all.labour(1); }, [&] { all.labour(2); },
                 [&] {
                   for (int i = 0; i < 3; ++i) all.add();
                 }});
  all.expect_all_done();
}

/// What a thief has moved to its own queue is seen by the other searcher, or the thief wakes it.
void loot() {
  crew all(3, 3);
  all.pieces_need_each_other = true;
  all.queue_at(0, 3);
  explorer::run({[&] { all.labour(0); }, [&] { all.labour(1); }, [&] { all.labour(2); }});
  all.expect_all_done();
}

TEST(tokio_6876, pieces_that_need_each_other_are_all_begun) {
  skua_model::expect_clean("two pieces from outside", bound(1), two_pieces_from_outside);
  skua_model::expect_clean("loot", bound(1), loot);
}

TEST(tokio_6876, pieces_that_need_each_other_are_all_begun_among_three) {
  skua_model::expect_clean("three pieces", bound(0), three_pieces_and_one_awake);
  limits at_random;
  at_random.random_executions = 1'000'000;
  at_random.seconds = 2;
  at_random.seed = std::random_device()();
  const skua_model::exploration done = explorer::explore(at_random, three_pieces_and_one_awake);
  std::printf("%llu executions at random from seed %llu\n",
              static_cast<unsigned long long>(done.executions),
              static_cast<unsigned long long>(at_random.seed));
}

/// The same with the runtime itself: each task keeps its worker busy until all have begun. One a
/// worker, so that all must be awake. The watchdog ends it if one sleeps.
void tasks_that_need_each_other(std::size_t workers) {
  skua_test::watchdog hang("tasks that need each other");
  auto rt = skua::runtime::builder().workers(workers).build();
  const skua_test::watchdog::registration watched(hang, rt->get_handle());
  std::atomic<std::uint64_t> begun{0};
  std::uint64_t rounds = 0;
  for (const skua_test::budget time(2); time.left(); ++rounds) {
    const std::uint64_t all = (rounds + 1) * workers;
    for (std::size_t i = 0; i < workers; ++i)
      rt->spawn([&begun, all] {
          ++begun;
          while (begun < all) std::this_thread::yield();
        }).detach();
    while (begun < all) std::this_thread::yield();
    hang.progress();
  }
  std::printf("%llu rounds with %zu workers\n", static_cast<unsigned long long>(rounds), workers);
}

TEST(tokio_6876, tasks_that_need_each_other_are_all_begun_by_two_workers) {
  tasks_that_need_each_other(2);
}

TEST(tokio_6876, tasks_that_need_each_other_are_all_begun_by_three_workers) {
  tasks_that_need_each_other(3);
}

}  // namespace
