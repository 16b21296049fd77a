// tests/issues/tokio_7622_test.cpp: a second wake published nothing, since one was on its way.
//
// Tokio 7622: whoever woke a task that was notified already left it at that, without a release: the
// task ran, but did not see what the second waker had written, and went back to sleep for ever.
//
// Here a second wake adds to the token by an exchange (parker::wake()), and a completion releases
// also where somebody else will run the task on: the runner (fired) or a canceller (completed), in
// leaf_word::complete().
#include "driver/parker.hpp"
#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/futex.hpp"
#include "model/mutation.hpp"
#include "skua/coro/leaf_word.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using skua::cancel_answer;
using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using order = std::memory_order;

/// Two wakers, each with a letter; the owner sleeps until it has both.
void two_wakes_one_token() {
  using parker = skua::parker<skua_model::atomics, skua_model::futex>;
  skua_model::futex::spurious_left = 0;
  parker owner;
  std::array<skua_model::atomic<int>, 2> letters;
  const auto send = [&](std::size_t which) {
    letters[which].store(1, order::relaxed);
    owner.wake();
  };
  explorer::run({[&] {
                   for (const auto& letter : letters)
                     while (letter.load(order::relaxed) == 0) owner.park(parker::no_deadline);
                 },
                 [&] { send(0); }, [&] { send(1); }});
}

using word = skua::leaf_word<skua_model::atomics>;

/// The completion comes while the task is still on its way to sleep: its runner goes on.
void completed_before_it_sleeps() {
  word state;
  plain<int> result;
  bool resumed = false;
  const auto resume = [&] {
    explorer::expect(result.read() == 5, "the result is there");
    resumed = true;
  };
  explorer::run({[&] {
                   if (state.publish() == word::publication::ready) resume();
                 },
                 [&] {
                   result.write(5);
                   if (state.complete(0, false)) resume();
                 }});
  explorer::expect(resumed, "it is resumed");
}

/// The completion comes while somebody cancels: the canceller goes on.
void completed_while_cancelled() {
  word state;
  plain<int> result;
  bool resumed = false;
  const auto resume = [&] {
    explorer::expect(result.read() == 5, "the result is there");
    resumed = true;
  };
  (void)state.publish();
  explorer::run({[&] {
                   if (state.request_stop().cancel && state.settle(cancel_answer::pending))
                     resume();
                 },
                 [&] {
                   result.write(5);
                   if (state.complete(0, false)) resume();
                 }});
  explorer::expect(resumed, "it is resumed");
}

TEST(tokio_7622, a_wake_brings_what_the_waker_wrote_whoever_runs_the_task) {
  skua_model::expect_clean("two wakes, one token", bound(3), two_wakes_one_token);
  skua_model::expect_clean("completed before it sleeps", bound(4), completed_before_it_sleeps);
  skua_model::expect_clean("completed while cancelled", bound(4), completed_while_cancelled);
}

}  // namespace
