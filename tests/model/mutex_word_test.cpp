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
    skua_model::atomic<int> granted{0};
  };

  void lock(place& mine) {
    if (word_.try_lock()) return;
    {
      const std::lock_guard hold(line_lock_);
      if (word_.lock_or_wait()) return;
      line_.push_back(&mine);
    }
    explorer::current().block_until([&] { return mine.granted.latest() == 1; }, "the mutex");
    (void)mine.granted.exchange(0, order::acquire);
  }

  /// Joins the line and leaves it at once, unless it is given the mutex.
  [[nodiscard]] bool lock_impatiently(place& mine) {
    if (word_.try_lock()) return true;
    const std::lock_guard hold(line_lock_);
    if (word_.lock_or_wait()) return true;
    line_.push_back(&mine);
    return false;
  }
  [[nodiscard]] bool leave(place& mine) {
    const std::lock_guard hold(line_lock_);
    if (line_.empty() || line_.front() != &mine) return false;
    line_.pop_front();
    if (line_.empty()) word_.line_is_empty();
    return true;
  }

  void unlock() {
    place* next = nullptr;
    while (next == nullptr) {
      if (word_.try_unlock()) return;
      const std::lock_guard hold(line_lock_);
      if (line_.empty()) continue;
      next = line_.front();
      line_.pop_front();
      if (line_.empty()) word_.line_is_empty();
    }
    next->granted.store(1, order::release);
  }

  [[nodiscard]] bool is_free() const { return word_.is_free(); }

private:
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

  void add_unless_it_takes_long() {
    model_mutex::place mine;
    if (!lock.lock_impatiently(mine)) {
      if (lock.leave(mine)) return;
      explorer::current().block_until([&] { return mine.granted.latest() == 1; }, "the mutex");
      (void)mine.granted.exchange(0, order::acquire);
    }
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

TEST(mutex_word_model, one_at_a_time_and_nobody_is_forgotten) {
  skua_model::expect_clean("three take it", bound(2), three_take_it);
  skua_model::expect_clean("twice each", bound(3), twice_each);
  skua_model::expect_clean("one gives up", bound(2), one_gives_up);
}

TEST(mutex_word_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::try_lock(", side::acquire}, bound(2), twice_each);
  expect_killed({"::try_unlock(", side::release}, bound(2), twice_each);
  expect_killed({"::try_unlock(", side::release}, bound(2), one_gives_up);
}

}  // namespace
