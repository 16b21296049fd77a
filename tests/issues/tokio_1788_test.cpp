// tests/issues/tokio_1788_test.cpp: work was pushed, the sleepers looked at by a load: none woken.
//
// Tokio 1788: a thread pushed a task and then looked by a plain load whether anybody slept. The
// load was older than the push, as far as the worker was concerned that announced its sleep in
// between, and whose last look at the queue was older than the push as well. The task never ran.
//
// Here both sides are read-modify-writes of one word: idle::worker_to_wake() and idle::park().
#include "model/crew.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

using skua_model::bound;
using skua_model::crew;
using skua_model::explorer;

void one_worker_falls_asleep() {
  crew all(1, 1);
  explorer::run({[&] { all.labour(0); }, [&] { all.add(); }});
  all.expect_all_done();
}

void two_workers_fall_asleep() {
  crew all(2, 1);
  explorer::run({[&] { all.labour(0); }, [&] { all.labour(1); }, [&] { all.add(); }});
  all.expect_all_done();
}

TEST(tokio_1788, work_pushed_while_a_worker_falls_asleep_is_run) {
  skua_model::expect_clean("one worker", bound(4), one_worker_falls_asleep);
  skua_model::expect_clean("two workers", bound(2), two_workers_fall_asleep);
}

}  // namespace
