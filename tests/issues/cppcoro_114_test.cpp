// tests/issues/cppcoro_114_test.cpp: a wake left over from one sleep ended another, miscounted.
//
// cppcoro 114: a thread of the pool was woken when it had just gone back to work by itself. The
// wake stayed behind and ended its next sleep; it was then counted as woken although it was still
// on the list of sleepers, a later wake went to it while it was awake, and all others slept on.
//
// Here the parker's token only says "look again"; whether the worker was woken is what idle::unpark
// finds out under the lock, and a token is never overwritten by going to sleep (parker::park()).
#include "driver/parker.hpp"
#include "model/crew.hpp"
#include "model/explorer.hpp"
#include "model/futex.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

using skua_model::bound;
using skua_model::crew;
using skua_model::explorer;

/// A worker comes back by itself just when it is woken, works, sleeps with the old token in its
/// pocket, and is needed again.
void one_worker() {
  crew all(1, 3);
  explorer::run({[&] { all.labour(0); },
                 [&] {
                   for (int i = 0; i < 3; ++i) all.add();
                 }});
  all.expect_all_done();
}

void two_workers() {
  crew all(2, 2);
  explorer::run({[&] { all.labour(0); }, [&] { all.labour(1); },
                 [&] {
                   all.add();
                   all.add();
                 }});
  all.expect_all_done();
}

/// A wake comes to nothing, since its owner was awake; the next one must not drown in it.
void a_token_ends_one_sleep() {
  using parker = skua::parker<skua_model::atomics, skua_model::futex>;
  skua_model::futex::spurious_left = 1;
  parker owner;
  owner.wake();
  skua_model::atomic<int> letter{0};
  explorer::run({[&] {
                   while (letter.load(std::memory_order::relaxed) == 0)
                     owner.park(parker::no_deadline);
                 },
                 [&] {
                   letter.store(1, std::memory_order::relaxed);
                   owner.wake();
                 }});
}

TEST(cppcoro_114, a_token_left_over_misleads_nobody) {
  skua_model::expect_clean("one token, two sleeps", bound(4), a_token_ends_one_sleep);
  skua_model::expect_clean("one worker", bound(3), one_worker);
  skua_model::expect_clean("two workers", bound(1), two_workers);
}

}  // namespace
