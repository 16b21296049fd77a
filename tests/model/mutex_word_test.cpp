// tests/model/mutex_word_test.cpp: one holder at a time, who sees what the last one did.
#include "skua/sync/mutex_word.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <deque>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

/// What skua::mutex does with the word, with threads for tasks.
class model_mutex {
public:
  struct place {
    skua_model::atomic<int> heard{nothing};
    // Under the lock.
    bool told = false;
    bool insists = false;
    bool gives_up = false;
  };

  void lock(place& mine) {
    if (word_.try_lock()) return;
    {
      const std::lock_guard hold(line_lock_);
      if (word_.lock_or_wait(line_.empty())) return;
      line_.push_back(&mine);
    }
    (void)wait_in_line(mine);
  }

  /// Joins the line and leaves it at once, unless it is given the mutex or told to come.
  [[nodiscard]] bool lock_impatiently(place& mine) {
    if (word_.try_lock()) return true;
    {
      const std::lock_guard hold(line_lock_);
      if (word_.lock_or_wait(line_.empty())) return true;
      line_.push_back(&mine);
    }
    return !leave(mine) && wait_in_line(mine);
  }

  /// Joins the line if there is one.
  void lock_behind_others(place& mine) {
    bool joins = false;
    {
      const std::lock_guard hold(line_lock_);
      if (!line_.empty()) line_.push_back(&mine);
      joins = !line_.empty();
    }
    if (joins)
      (void)wait_in_line(mine);
    else
      lock(mine);
  }

  void unlock() {
    while (!word_.try_unlock()) {
      place* next = nullptr;
      int news = nothing;
      {
        const std::lock_guard hold(line_lock_);
        explorer::expect(word_.is_held(), "it is unlocked by who holds it");
        if (line_.empty()) continue;
        next = line_.front();
        news = hand_over_or_tell(*next);
      }
      next->heard.store(news, order::release);
      return;
    }
  }

  [[nodiscard]] bool is_free() const { return word_.is_free(); }

private:
  static constexpr int nothing = 0;
  static constexpr int has_it = 1;
  static constexpr int may_come = 2;

  int hand_over_or_tell(place& first) {
    if (first.insists) {
      leave_line();
      return has_it;
    }
    first.told = true;
    word_.open_for_first();
    return may_come;
  }

  void leave_line() {
    line_.pop_front();
    if (line_.empty()) word_.line_is_empty();
  }

  [[nodiscard]] bool leave(place& mine) {
    const std::lock_guard hold(line_lock_);
    if (mine.told) mine.gives_up = true;
    if (mine.told || line_.empty() || line_.front() != &mine) return false;
    leave_line();
    return true;
  }

  /// False if it gave up.
  bool wait_in_line(place& mine) {
    for (;;) {
      explorer::current().block_until([&] { return mine.heard.latest() != nothing; }, "the mutex");
      if (mine.heard.exchange(nothing, order::acquire) == has_it) return true;
      bool got = false;
      {
        const std::lock_guard hold(line_lock_);
        mine.told = false;
        got = word_.lock_for_first();
        mine.insists = !got;
        if (got || mine.gives_up) leave_line();
      }
      if (mine.gives_up && got) unlock();
      if (mine.gives_up) return false;
      if (got) return true;
    }
  }

  skua::mutex_word<skua_model::atomics> word_;
  skua_model::mutex line_lock_;
  std::deque<place*> line_;
};

struct shared {
  model_mutex lock;
  plain<int> content;
  int sum = 0;  // for afterwards

  void add() {
    model_mutex::place mine;
    lock.lock(mine);
    add_one();
    lock.unlock();
  }

  void add_behind_others() {
    model_mutex::place mine;
    lock.lock_behind_others(mine);
    add_one();
    lock.unlock();
  }

  void add_unless_it_takes_long() {
    model_mutex::place mine;
    if (!lock.lock_impatiently(mine)) return;
    add_one();
    lock.unlock();
  }

  void add_one() {
    content.write(content.read() + 1);
    ++sum;
  }
};

void three_take_it() {
  shared all;
  explorer::run({[&] { all.add(); }, [&] { all.add(); }, [&] { all.add(); }});
  explorer::expect(all.lock.is_free(), "it is free in the end");
  explorer::expect(all.sum == 3, "nothing was lost");
}

void twice_each() {
  shared all;
  auto twice = [&] {
    all.add();
    all.add();
  };
  explorer::run({twice, twice});
  explorer::expect(all.lock.is_free(), "it is free in the end");
  explorer::expect(all.sum == 4, "nothing was lost");
}

void one_gives_up() {
  shared all;
  explorer::run({[&] { all.add(); }, [&] { all.add_unless_it_takes_long(); }, [&] { all.add(); }});
  explorer::expect(all.lock.is_free(), "it is free in the end");
  explorer::expect(all.sum >= 2, "nothing was lost");
}

void one_joins_the_line_of_others() {
  shared all;
  explorer::run({[&] { all.add(); }, [&] { all.add(); }, [&] { all.add_behind_others(); }});
  explorer::expect(all.lock.is_free(), "it is free in the end");
  explorer::expect(all.sum == 3, "nothing was lost");
}

TEST(mutex_word_model, one_at_a_time_and_nobody_is_forgotten) {
  skua_model::expect_clean("three take it", bound(2), three_take_it);
  skua_model::expect_clean("twice each", bound(3), twice_each);
  skua_model::expect_clean("one gives up", bound(2), one_gives_up);
  skua_model::expect_clean("one joins the line of others", bound(2), one_joins_the_line_of_others);
}

TEST(mutex_word_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::try_lock(", side::acquire}, bound(2), twice_each);
  expect_killed({"::try_unlock(", side::release}, bound(2), twice_each);
  expect_killed({"::try_unlock(", side::release}, bound(2), one_gives_up);
  expect_killed({"::open_for_first(", side::release}, bound(3), three_take_it);
  expect_killed({"::lock_for_first(", side::acquire}, bound(3), three_take_it);
}

}  // namespace
