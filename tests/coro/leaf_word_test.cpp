// tests/coro/leaf_word_test.cpp: in every order of its operations, one party schedules, once.
//
// Each operation of leaf_word is one atomic step, so that trying all orders of operations is a
// complete test of the protocol above the memory model; the orders of memory are another test's.
#include "skua/coro/leaf_word.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace {

using skua::cancel_answer;
using word = skua::leaf_word<skua::std_atomics>;

/// What kind of source the leaf waits for.
enum class source_kind {
  list,    ///< cancel() takes the waiter out if the completer has not claimed it yet.
  kernel,  ///< cancel() never detaches; the operation completes, with its result or cancelled.
};

/// Who is there besides runner, completer and canceller.
enum class company { none, shield, inspector, shield_and_inspector, two_inspectors };

/// One wait and the parties around it, advanced step by step.
class world {
public:
  world(source_kind kind, company with) : kind_(kind) {
    shielded_ = (with == company::shield || with == company::shield_and_inspector) &&
                !word_.set_shield(true);
    if (with == company::none || with == company::shield) inspectors_[0].at = done;
    if (with != company::two_inspectors) inspectors_[1].at = done;
  }

  enum party : std::size_t { runner, completer, canceller, inspector, second_inspector, parties };

  [[nodiscard]] bool can_step(std::size_t who) const {
    switch (who) {
      case runner:
        return runner_at_ != done;
      case completer:
        // A list's completer that finds nobody, and a kernel's that has reported, are through.
        return completer_at_ != done && !(completer_at_ == 0 && detached_);
      case canceller:
        return canceller_at_ != done;
      default:
        return inspectors_[who - inspector].at != done;
    }
  }

  void step(std::size_t who) {
    switch (who) {
      case runner:
        return step_runner();
      case completer:
        return step_completer();
      case canceller:
        return step_canceller();
      default:
        return step_inspector(inspectors_[who - inspector]);
    }
  }

  void verify() const {
    EXPECT_EQ(resumed_, 1) << "resumed or unwound exactly once";
    EXPECT_FALSE(live_at_resume_) << "never while the source may still complete";
    EXPECT_TRUE(!unwound_ || (stop_requested_ && !shielded_)) << "unwound only by a visible stop";
    EXPECT_TRUE(!detached_ || unwound_) << "a source that let go gives no value";
    EXPECT_TRUE(!completed_with_value_ || !unwound_) << "a value beats a stop";
    EXPECT_LE(cancel_calls_, 1) << "cancel() is called at most once";
    EXPECT_FALSE(resumed_while_held_) << "frames stand still while an inspector looks";
  }
  [[nodiscard]] bool inspected() const { return inspected_; }

  [[nodiscard]] std::string summary() const {
    return unwound_ ? (detached_ ? "detached" : "cancelled") : "value";
  }

private:
  static constexpr int done = 99;

  struct inspection {
    int at = 0;
    cancel_answer answer{};
  };

  // Holds, lets go, and does what came up meanwhile.
  void step_inspector(inspection& one) {
    using answer = word::let_go_answer;
    if (one.at == 0) {
      one.at = word_.hold_still() ? 1 : done;
      if (one.at == done) return;
      EXPECT_FALSE(held_) << "one inspector at a time";
      EXPECT_FALSE(word_.hold_still());
      held_ = inspected_ = true;
      return;
    }
    if (one.at == 1) {
      held_ = false;
      const answer then = word_.let_go();
      one.at = then == answer::cancel ? 2 : done;
      if (then == answer::schedule) resume();
      return;
    }
    if (one.at == 2) {
      one.answer = cancel_source();
      one.at = 3;
      return;
    }
    if (word_.settle(one.answer)) resume();
    one.at = done;
  }

  void step_runner() {
    if (runner_at_ == 0) {
      switch (word_.publish()) {
        case word::publication::parked:
          runner_at_ = done;
          return;
        case word::publication::ready:
          resume();
          runner_at_ = done;
          return;
        case word::publication::cancel:
          runner_at_ = 1;
          return;
      }
    }
    if (runner_at_ == 1) {
      answer_of_runner_ = cancel_source();
      runner_at_ = 2;
      return;
    }
    if (word_.settle(answer_of_runner_)) resume();
    runner_at_ = done;
  }

  void step_canceller() {
    if (canceller_at_ == 0) {
      stop_requested_ = true;
      const auto answer = word_.request_stop();
      EXPECT_TRUE(answer.first);
      EXPECT_FALSE(word_.request_stop().first) << "only the first request counts";
      canceller_at_ = answer.cancel ? 1 : done;
      return;
    }
    if (canceller_at_ == 1) {
      answer_of_canceller_ = cancel_source();
      canceller_at_ = 2;
      return;
    }
    if (word_.settle(answer_of_canceller_)) resume();
    canceller_at_ = done;
  }

  // Claims, then completes: between the two the source no longer knows the waiter.
  void step_completer() {
    if (completer_at_ == 0) {
      claimed_ = true;
      completer_at_ = 1;
      return;
    }
    const bool cancelled = kind_ == source_kind::kernel && cancel_asked_;
    live_ = false;
    const bool schedules = word_.complete(0, cancelled);
    completed_with_value_ = !cancelled;
    if (schedules) resume();
    if (schedules) {
      EXPECT_FALSE(word_.complete(0, false));
      EXPECT_TRUE(word_.at_rest()) << "a late completion changes nothing";
    }
    completer_at_ = done;
  }

  cancel_answer cancel_source() {
    ++cancel_calls_;
    cancel_asked_ = true;
    if (kind_ == source_kind::kernel || claimed_) return cancel_answer::pending;
    detached_ = true;
    live_ = false;
    return cancel_answer::detached;
  }

  void resume() {
    ++resumed_;
    resumed_while_held_ = resumed_while_held_ || held_;
    live_at_resume_ = live_;
    unwound_ = word_.take_unwind();
    EXPECT_FALSE(word_.take_unwind()) << "told once";
    EXPECT_EQ(word_.wait_number(), 1U);
    EXPECT_TRUE(word_.at_rest());
  }

  word word_;
  source_kind kind_;
  bool shielded_ = false;
  int runner_at_ = 0, completer_at_ = 0, canceller_at_ = 0;
  cancel_answer answer_of_runner_{}, answer_of_canceller_{};
  bool claimed_ = false, detached_ = false, live_ = true, cancel_asked_ = false;
  bool stop_requested_ = false, completed_with_value_ = false;
  int resumed_ = 0, cancel_calls_ = 0;
  bool live_at_resume_ = false, unwound_ = false;
  inspection inspectors_[2];
  bool held_ = false, inspected_ = false, resumed_while_held_ = false;
};

/// Depth-first over all orders: replays a prefix of choices, then always takes the first party that
/// can go on, and backs up to the last choice that has an alternative.
struct exploration {
  std::size_t orders = 0;
  std::size_t inspected = 0;
  std::set<std::string> ends;

  void run(source_kind kind, company with) {
    std::vector<std::size_t> choices;
    do {
      world one(kind, with);
      std::vector<std::vector<std::size_t>> alternatives;
      for (std::size_t depth = 0;; ++depth) {
        std::vector<std::size_t> able;
        for (std::size_t who = 0; who < world::parties; ++who)
          if (one.can_step(who)) able.push_back(who);
        if (able.empty()) break;
        if (depth == choices.size()) choices.push_back(0);
        alternatives.push_back(able);
        one.step(able[choices[depth]]);
      }
      one.verify();
      ++orders;
      inspected += one.inspected() ? 1 : 0;
      ends.insert(one.summary());
      while (!choices.empty() && choices.back() + 1 == alternatives[choices.size() - 1].size())
        choices.pop_back();
      if (!choices.empty()) ++choices.back();
    } while (!choices.empty());
  }
};

TEST(leaf_word, one_party_schedules_whatever_the_order_with_a_list_source) {
  exploration all;
  all.run(source_kind::list, company::none);
  EXPECT_GT(all.orders, 20U);
  EXPECT_EQ(all.ends, (std::set<std::string>{"detached", "value"}));
}

TEST(leaf_word, one_party_schedules_whatever_the_order_with_a_kernel_source) {
  exploration all;
  all.run(source_kind::kernel, company::none);
  EXPECT_GT(all.orders, 20U);
  EXPECT_EQ(all.ends, (std::set<std::string>{"cancelled", "value"}));
}

TEST(leaf_word, a_shield_leaves_only_the_value) {
  for (const source_kind kind : {source_kind::list, source_kind::kernel}) {
    exploration all;
    all.run(kind, company::shield);
    EXPECT_EQ(all.ends, (std::set<std::string>{"value"}));
  }
}

TEST(leaf_word, an_inspector_changes_nothing_but_who_schedules) {
  for (const company with : {company::inspector, company::two_inspectors}) {
    exploration list;
    list.run(source_kind::list, with);
    EXPECT_GT(list.inspected, 20U);
    EXPECT_LT(list.inspected, list.orders);
    EXPECT_EQ(list.ends, (std::set<std::string>{"detached", "value"}));
    exploration kernel;
    kernel.run(source_kind::kernel, with);
    EXPECT_EQ(kernel.ends, (std::set<std::string>{"cancelled", "value"}));
  }
  exploration shield;
  shield.run(source_kind::list, company::shield_and_inspector);
  EXPECT_GT(shield.inspected, 10U);
  EXPECT_EQ(shield.ends, (std::set<std::string>{"value"}));
}

TEST(leaf_word, an_inspector_holds_only_a_chain_that_waits) {
  word one;
  EXPECT_FALSE(one.hold_still()) << "it runs";
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_TRUE(one.hold_still());
  EXPECT_FALSE(one.hold_still()) << "held by another";
  EXPECT_EQ(one.let_go(), word::let_go_answer::parked);
  EXPECT_TRUE(one.hold_still()) << "again";
  EXPECT_EQ(one.let_go(), word::let_go_answer::parked);
  EXPECT_TRUE(one.complete(0, false)) << "as if nobody had looked";
  EXPECT_FALSE(one.hold_still()) << "it is queued";
}

TEST(leaf_word, an_inspector_passes_a_completion_on) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_TRUE(one.hold_still());
  EXPECT_FALSE(one.complete(0, true));
  EXPECT_FALSE(one.at_rest());
  EXPECT_EQ(one.let_go(), word::let_go_answer::schedule);
  EXPECT_TRUE(one.at_rest());
  EXPECT_EQ(one.wait_number(), 1U);
  EXPECT_FALSE(one.take_unwind()) << "cancelled, but not by a stop";
}

TEST(leaf_word, an_inspector_passes_on_that_the_stop_ended_the_wait) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_TRUE(one.hold_still());
  EXPECT_FALSE(one.request_stop().cancel) << "left to the inspector";
  EXPECT_FALSE(one.complete(0, true));
  EXPECT_EQ(one.let_go(), word::let_go_answer::schedule);
  EXPECT_TRUE(one.take_unwind());
}

TEST(leaf_word, an_inspector_cancels_for_the_canceller_that_came_meanwhile) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_TRUE(one.hold_still());
  EXPECT_FALSE(one.request_stop().cancel);
  EXPECT_EQ(one.let_go(), word::let_go_answer::cancel);
  EXPECT_FALSE(one.hold_still()) << "it is being cancelled";
  EXPECT_TRUE(one.settle(cancel_answer::detached));
  EXPECT_TRUE(one.take_unwind());
}

TEST(leaf_word, a_pending_cancellation_is_not_inspected) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_TRUE(one.request_stop().cancel);
  EXPECT_FALSE(one.settle(cancel_answer::pending));
  EXPECT_FALSE(one.hold_still());
  EXPECT_TRUE(one.complete(0, true));
}

TEST(leaf_word, used_again_is_as_new_but_counts_its_waits_on) {
  word one;
  EXPECT_FALSE(one.set_shield(true));
  EXPECT_FALSE(one.set_watched());
  EXPECT_TRUE(one.request_stop().first);
  EXPECT_TRUE(one.set_shield(false));
  EXPECT_EQ(one.publish(), word::publication::cancel);
  EXPECT_TRUE(one.settle(cancel_answer::detached));
  EXPECT_EQ(one.wait_number(), 1U);
  one.reset();
  EXPECT_TRUE(one.at_rest());
  EXPECT_FALSE(one.stop_visible());
  EXPECT_FALSE(one.take_unwind());
  EXPECT_EQ(one.wait_number(), 2U);
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_FALSE(one.complete(0, false)) << "of the former chain";
  EXPECT_FALSE(one.complete(1, false)) << "that chain's next wait";
  const auto stop = one.request_stop();
  EXPECT_TRUE(stop.first);
  EXPECT_TRUE(stop.cancel) << "no shield is left";
  EXPECT_FALSE(stop.tell) << "nor a watcher";
  EXPECT_FALSE(one.settle(cancel_answer::pending));
  EXPECT_TRUE(one.complete(2, true));
}

TEST(leaf_word, is_not_used_again_while_something_waits) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_DEATH(one.reset(), "a context is used again at rest");
}

TEST(leaf_word, letting_go_of_what_is_not_held_is_an_error) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_DEATH((void)one.let_go(), "only the inspector lets go");
}

TEST(leaf_word, a_watcher_is_told_once_by_the_canceller) {
  word one;
  EXPECT_FALSE(one.set_watched());
  EXPECT_TRUE(one.request_stop().tell);
  EXPECT_FALSE(one.request_stop().tell);
}

TEST(leaf_word, a_watcher_that_comes_after_the_stop_is_told_at_once) {
  word one;
  EXPECT_FALSE(one.request_stop().tell);
  EXPECT_TRUE(one.set_watched());
}

TEST(leaf_word, a_watcher_behind_a_shield_is_told_when_it_ends) {
  word one;
  EXPECT_FALSE(one.set_shield(true));
  EXPECT_FALSE(one.set_watched());
  EXPECT_FALSE(one.request_stop().tell);
  EXPECT_FALSE(one.stop_visible());
  EXPECT_TRUE(one.set_shield(false));
  EXPECT_TRUE(one.stop_visible());
}

TEST(leaf_word, a_second_completion_of_one_wait_is_an_error) {
  word one;
  EXPECT_FALSE(one.complete(0, false));
  EXPECT_DEATH((void)one.complete(0, false), "a wait is completed once");
}

TEST(leaf_word, a_source_that_let_go_and_completes_all_the_same_is_an_error) {
  word one;
  EXPECT_EQ(one.publish(), word::publication::parked);
  EXPECT_TRUE(one.request_stop().cancel);
  EXPECT_FALSE(one.complete(0, false));
  EXPECT_DEATH((void)one.settle(cancel_answer::detached), "a source that let go");
}

}  // namespace
