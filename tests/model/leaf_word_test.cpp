// tests/model/leaf_word_test.cpp: the leaf and cancel protocol under every order and stale read.
#include "skua/coro/leaf_word.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using skua::cancel_answer;
using skua_model::explorer;
using skua_model::limits;
using skua_model::order_mutant;
using skua_model::plain;
using word = skua::leaf_word<skua_model::atomics>;
using side = order_mutant::side;

/// One wait with its three parties. What the parties hand each other are plain variables, so that a
/// missing edge shows as a data race.
struct wait {
  word state;
  plain<int> frame;        // the runner's: locals of the suspended coroutine
  plain<int> result;       // the completer's
  plain<int> reason;       // the canceller's, from before it asked
  plain<int> leaf_notes;   // what leaf::cancel() left in the leaf
  skua_model::mutex lock;  // the source's
  plain<bool> listed{true};
  plain<bool> cancel_asked;
  int resumed = 0;
  bool kernel = false;  // cancel() never detaches

  cancel_answer cancel() {
    (void)frame.read();
    leaf_notes.write(1);
    lock.lock();
    const bool found = listed.read();
    cancel_asked.write(true);
    if (!kernel) listed.write(false);
    lock.unlock();
    return found && !kernel ? cancel_answer::detached : cancel_answer::pending;
  }

  /// Whoever is to schedule runs it on at once, so it needs every edge itself.
  void resume() {
    explorer::expect(resumed++ == 0, "resumed once");
    frame.write(frame.read() + 1);
    (void)leaf_notes.read();
    if (state.take_unwind())
      (void)reason.read();
    else
      explorer::expect(result.read() == 5, "the result is there");
  }

  void run_runner() {
    frame.write(1);
    switch (state.publish()) {
      case word::publication::parked:
        return;
      case word::publication::ready:
        return resume();
      case word::publication::cancel:
        if (state.settle(cancel())) resume();
    }
  }
  void run_completer() {
    lock.lock();
    const bool found = listed.read();
    listed.write(false);
    const bool cancelled = kernel && cancel_asked.read();
    lock.unlock();
    if (!found) return;
    if (!cancelled) result.write(5);
    if (state.complete(0, cancelled)) resume();
  }
  void run_canceller() {
    reason.write(1);
    const auto answer = state.request_stop();
    if (answer.cancel && state.settle(cancel())) resume();
  }
};

void three_parties(bool kernel) {
  auto one = std::make_unique<wait>();
  one->kernel = kernel;
  explorer::run(
      {[&] { one->run_runner(); }, [&] { one->run_completer(); }, [&] { one->run_canceller(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}
void list_source() {
  three_parties(false);
}
void kernel_source() {
  three_parties(true);
}

/// A stop token's source, made by the runner, is told by the canceller or the runner.
void watcher() {
  word state;
  plain<int> source;
  int told = 0;
  explorer::run({[&] {
                   source.write(1);
                   if (state.set_watched()) ++told;
                 },
                 [&] {
                   if (state.request_stop().tell) {
                     (void)source.read();
                     ++told;
                   }
                 }});
  explorer::expect(told == 1, "told once");
}

limits bound(int preemptions) {
  limits within;
  within.preemptions = preemptions;
  return within;
}

TEST(leaf_word_model, exactly_one_party_resumes_and_sees_everything) {
  skua_model::expect_clean("list source", bound(3), list_source);
  skua_model::expect_clean("kernel source", bound(3), kernel_source);
  skua_model::expect_clean("watcher", bound(3), watcher);
}

TEST(leaf_word_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"publish", side::release}, bound(3), list_source);
  expect_killed({"publish", side::acquire}, bound(3), list_source);
  expect_killed({"complete", side::release}, bound(3), list_source);
  expect_killed({"complete", side::acquire}, bound(3), list_source);
  expect_killed({"request_stop", side::release}, bound(3), list_source);
  expect_killed({"request_stop", side::acquire}, bound(3), list_source);
  expect_killed({"settle", side::acquire}, bound(3), kernel_source);
  expect_killed({"settle", side::release}, bound(3), kernel_source);
  expect_killed({"set_watched", side::release}, bound(3), watcher);
}

}  // namespace
