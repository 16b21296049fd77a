// tests/model/leaf_word_test.cpp: the leaf and cancel protocol under every order and stale read.
#include "skua/coro/leaf_word.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace {

using skua::cancel_answer;
using skua_model::bound;
using skua_model::explorer;
using skua_model::order_mutant;
using skua_model::plain;
using word = skua::leaf_word<skua_model::atomics>;
using side = order_mutant::side;

/// One wait with its parties. What the parties hand each other are plain variables, so that a
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
  bool held = false;    // the explorer's own

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
    explorer::expect(!held, "not while an inspector looks");
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
  void run_inspector() {
    if (!state.hold_still()) return;
    held = true;
    (void)frame.read();
    explorer::current().step();  // while others go on
    (void)frame.read();
    held = false;
    const auto answer = state.let_go();
    if (answer == word::let_go_answer::schedule) resume();
    if (answer == word::let_go_answer::cancel && state.settle(cancel())) resume();
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

/// The source stays silent: only the stop ends the wait.
void stopped() {
  auto one = std::make_unique<wait>();
  explorer::run({[&] { one->run_runner(); }, [&] { one->run_canceller(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}

/// An inspector beside completer and canceller; the chain waits already.
void inspected_wait(bool kernel) {
  auto one = std::make_unique<wait>();
  one->kernel = kernel;
  one->run_runner();
  explorer::run({[&] { one->run_inspector(); }, [&] { one->run_completer(); },
                 [&] { one->run_canceller(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}
void inspected_list_source() {
  inspected_wait(false);
}
void inspected_kernel_source() {
  inspected_wait(true);
}

void inspected_and_stopped() {
  auto one = std::make_unique<wait>();
  one->run_runner();
  explorer::run({[&] { one->run_inspector(); }, [&] { one->run_canceller(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}

/// All four parties.
void inspected_from_the_start() {
  auto one = std::make_unique<wait>();
  explorer::run({[&] { one->run_runner(); }, [&] { one->run_completer(); },
                 [&] { one->run_canceller(); }, [&] { one->run_inspector(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}

void two_inspectors() {
  auto one = std::make_unique<wait>();
  one->run_runner();
  explorer::run({[&] { one->run_inspector(); }, [&] { one->run_inspector(); },
                 [&] { one->run_completer(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}

void inspector_and_completer() {
  auto one = std::make_unique<wait>();
  explorer::run(
      {[&] { one->run_runner(); }, [&] { one->run_inspector(); }, [&] { one->run_completer(); }});
  explorer::expect(one->resumed == 1, "nobody is left waiting");
}

/// A completer that calls once more when its wait is over; meanwhile the context is used again.
void used_again() {
  word state;
  skua_model::atomic<int> queue(0);
  bool second_wait_is_over = false;
  explorer::expect(state.publish() == word::publication::parked, "it waits");
  explorer::run({[&] {
                   explorer::expect(state.complete(0, false), "the completer schedules");
                   queue.store(1, std::memory_order_release);
                   explorer::expect(!state.complete(0, false), "a late call schedules nothing");
                 },
                 [&] {
                   explorer::current().block_until([&] { return queue.latest() == 1; }, "its turn");
                   (void)queue.exchange(0, std::memory_order_acquire);
                   (void)state.request_stop();
                   state.reset();
                   explorer::expect(!state.stop_visible(), "the stop was the former chain's");
                   const std::uint32_t wait = state.wait_number();
                   explorer::expect(state.publish() == word::publication::parked,
                                    "it waits for the second time");
                   second_wait_is_over = state.complete(wait, false);
                 }});
  explorer::expect(second_wait_is_over && state.at_rest(), "completed by its own completer");
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

TEST(leaf_word_model, exactly_one_party_resumes_and_sees_everything) {
  skua_model::expect_clean("list source", bound(3), list_source);
  skua_model::expect_clean("kernel source", bound(3), kernel_source);
  skua_model::expect_clean("stopped", bound(3), stopped);
  skua_model::expect_clean("watcher", bound(3), watcher);
}

TEST(leaf_word_model, frames_stand_still_while_an_inspector_looks) {
  skua_model::expect_clean("inspected, list source", bound(2), inspected_list_source);
  skua_model::expect_clean("inspected, kernel source", bound(2), inspected_kernel_source);
  skua_model::expect_clean("inspected and stopped", bound(3), inspected_and_stopped);
  skua_model::expect_clean("two inspectors", bound(2), two_inspectors);
  skua_model::expect_clean("inspected from the start", bound(2), inspected_from_the_start);
}

TEST(leaf_word_model, a_late_completer_does_not_touch_the_next_chain) {
  skua_model::expect_clean("used again", bound(3), used_again);
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
  expect_killed({"hold_still", side::acquire}, bound(2), inspector_and_completer);
  expect_killed({"let_go", side::release}, bound(2), inspector_and_completer);
  expect_killed({"let_go", side::acquire}, bound(2), inspector_and_completer);
  expect_killed({"let_go", side::acquire}, bound(2), inspected_kernel_source);
}

TEST(leaf_word_model, deeper) {
  skua_model::expect_clean_as_far_as(4, {{"list source", list_source},
                                         {"kernel source", kernel_source},
                                         {"inspected, list source", inspected_list_source},
                                         {"inspected, kernel source", inspected_kernel_source},
                                         {"inspected from the start", inspected_from_the_start}});
}

}  // namespace
