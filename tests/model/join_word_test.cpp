// tests/model/join_word_test.cpp: task, handle and walkers at one cell: freed once, by the last.
#include "sched/join_word.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using word = skua::join_word<skua_model::atomics>;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

/// A cell as a task's would be. What the parties leave for each other are plain variables, and
/// whoever frees the cell writes them all: a use that does not happen before that is a data race.
struct cell {
  word state;
  plain<int> id;      // the spawner's, from before open(); walkers read it
  plain<int> result;  // the task's
  plain<int> joiner;  // the handle's, from before join()
  int lives = 0;      // how often it was opened; the explorer's own, as are all below
  int frees = 0;
  int lives_left = 0;  // whoever frees it opens it again so many times, without a handle
  int wakes = 0;

  void spawn(bool dropped) {
    id.write(++lives);
    if (dropped)
      state.open_dropped();
    else
      state.open();
  }
  void free() {
    explorer::expect(++frees == lives, "freed once in each life");
    explorer::expect(state.is_free(), "nobody refers to it");
    explorer::expect(result.read() == 5, "the result is there, to be destroyed");
    id.write(0);
    result.write(0);
    joiner.write(0);
    if (lives_left == 0) return;
    --lives_left;
    spawn(true);
    end();
  }
  void end() {
    result.write(5);
    switch (state.end()) {
      case word::end_answer::kept:
        return;
      case word::end_answer::wake_joiner:
        explorer::expect(joiner.read() == 9, "the joiner's address is there");
        ++wakes;
        return wake_.store(1, order::release);
      case word::end_answer::free:
        return free();
    }
  }
  void drop() {
    if (state.drop()) free();
  }
  [[nodiscard]] bool join() {
    joiner.write(9);
    return state.join();
  }
  void await_wake() {
    explorer::current().block_until([this] { return wake_.latest() == 1; }, "the wake");
    (void)wake_.exchange(0, order::acquire);
  }
  void use_result() { explorer::expect(result.read() == 5, "the result is there"); }

  void walk() {
    if (!state.pin()) return;
    const int whose = id.read();
    explorer::expect(whose > 0, "a pinned cell is a task's");
    (void)state.done();
    explorer::expect(id.read() == whose && lives == whose, "and stays this task's");
    if (state.unpin()) free();
  }
  void expect_over(int expected_lives) {
    explorer::expect(lives == expected_lives && frees == lives, "freed, each life once");
    explorer::expect(state.is_free() && !state.pin(), "free");
  }

private:
  skua_model::atomic<int> wake_{0};
};

template <typename Handle>
void with_handle(Handle handle, bool walker = true) {
  cell one;
  one.spawn(false);
  if (walker)
    explorer::run({[&] { one.end(); }, [&] { handle(one); }, [&] { one.walk(); }});
  else
    explorer::run({[&] { one.end(); }, [&] { handle(one); }});
  one.expect_over(1);
}

void dropped() {
  with_handle([](cell& one) { one.drop(); });
}
void asked_then_dropped() {
  with_handle([](cell& one) {
    if (one.state.done()) one.use_result();
    one.drop();
  });
}
void joined_by(cell& one) {
  const bool waits = one.join();
  if (waits) one.await_wake();
  one.use_result();
  one.drop();
  explorer::expect(one.wakes == (waits ? 1 : 0), "woken once if it waits");
}
void joined() {
  with_handle(joined_by);
}
void joined_without_walker() {
  with_handle(joined_by, false);
}
/// The joiner gives up; and joins again, if `again`.
void left_by(cell& one, bool again) {
  const bool waits = one.join();
  if (waits) {
    const bool left = one.state.leave();
    if (left && again) return joined_by(one);
    if (!left) one.await_wake();
    if (!left) one.use_result();
    explorer::expect(one.wakes == (left ? 0 : 1), "woken unless it left");
  } else {
    one.use_result();
  }
  one.drop();
}
void left() {
  with_handle([](cell& one) { left_by(one, false); });
}
void left_and_joined_again() {
  with_handle([](cell& one) { left_by(one, true); });
}

/// A walker that is there from the start, so that it may be the last to let go.
void pinned_before() {
  cell one;
  one.spawn(false);
  explorer::expect(one.state.pin(), "it is alive");
  explorer::run({[&] { one.end(); }, [&] { one.drop(); },
                 [&] {
                   explorer::expect(one.id.read() == 1, "the cell is its task's");
                   if (one.state.unpin()) one.free();
                 }});
  one.expect_over(1);
}

void two_walkers() {
  cell one;
  one.spawn(true);
  explorer::run({[&] { one.end(); }, [&] { one.walk(); }, [&] { one.walk(); }});
  one.expect_over(1);
}

/// The cell of a task without a handle is used again at once, while a walker looks.
void used_again() {
  cell one;
  one.lives_left = 1;
  one.spawn(true);
  explorer::run({[&] { one.end(); },
                 [&] {
                   one.walk();
                   one.walk();
                 }});
  one.expect_over(2);
}
void used_again_and_two_walkers() {
  cell one;
  one.lives_left = 1;
  one.spawn(true);
  explorer::run({[&] { one.end(); }, [&] { one.walk(); }, [&] { one.walk(); }});
  one.expect_over(2);
}
/// Opened for the first time while a walker looks.
void opened() {
  cell one;
  explorer::run({[&] {
                   one.spawn(true);
                   one.end();
                 },
                 [&] { one.walk(); }});
  one.expect_over(1);
}
void opened_with_handle() {
  cell one;
  explorer::run({[&] {
                   one.spawn(false);
                   one.drop();
                   one.end();
                 },
                 [&] { one.walk(); }});
  one.expect_over(1);
}

TEST(join_word_model, the_last_to_let_go_frees_and_sees_everything) {
  using skua_model::expect_clean;
  expect_clean("dropped", bound(3), dropped);
  expect_clean("asked, then dropped", bound(3), asked_then_dropped);
  expect_clean("joined", bound(3), joined);
  expect_clean("left", bound(2), left);
  expect_clean("left and joined again", bound(2), left_and_joined_again);
  expect_clean("pinned before", bound(3), pinned_before);
  expect_clean("two walkers", bound(2), two_walkers);
}

TEST(join_word_model, a_walker_meets_a_task_or_nobody_while_the_cell_is_used_again) {
  using skua_model::expect_clean;
  expect_clean("opened", bound(3), opened);
  expect_clean("opened with a handle", bound(3), opened_with_handle);
  expect_clean("used again", bound(3), used_again);
  expect_clean("used again, two walkers", bound(2), used_again_and_two_walkers);
}

TEST(join_word_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::end(", side::release}, bound(2), joined_without_walker);
  expect_killed({"::end(", side::acquire}, bound(2), joined_without_walker);
  expect_killed({"::end(", side::acquire}, bound(2), used_again);
  expect_killed({"::drop(", side::release}, bound(2), left);
  expect_killed({"::drop(", side::acquire}, bound(2), dropped);
  expect_killed({"::done(", side::acquire}, bound(2), asked_then_dropped);
  expect_killed({"::join(", side::release}, bound(2), joined_without_walker);
  expect_killed({"::join(", side::acquire}, bound(2), joined_without_walker);
  expect_killed({"::pin(", side::acquire}, bound(2), opened);
  expect_killed({"::open_as(", side::release}, bound(2), opened);
  expect_killed({"::unpin(", side::release}, bound(2), two_walkers);
  expect_killed({"::unpin(", side::acquire}, bound(2), pinned_before);
}

TEST(join_word_model, deeper) {
  skua_model::expect_clean_as_far_as(3, {{"left", left},
                                         {"left and joined again", left_and_joined_again},
                                         {"two walkers", two_walkers},
                                         {"used again, two walkers", used_again_and_two_walkers}});
}

}  // namespace
