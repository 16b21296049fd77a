// tests/model/semaphore_word_test.cpp: never more than there are, and nobody is forgotten.
#include "skua/sync/semaphore_word.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using order = std::memory_order;
using side = skua_model::order_mutant::side;
using word = skua::semaphore_word<skua_model::atomics>;

/// What skua::semaphore does with the word, with threads for tasks.
class model_semaphore {
public:
  explicit model_semaphore(std::uint64_t permits) : word_(permits) {}

  struct place {
    std::uint64_t count;
    bool refused = false;
    skua_model::atomic<int> granted{0};
  };

  /// False if it is closed.
  [[nodiscard]] bool acquire(std::uint64_t count) {
    place mine{count};
    if (ask(mine)) return !mine.refused;
    return wait(mine);
  }

  /// Joins the line and leaves it at once, unless it is given its permits. True: it has them.
  [[nodiscard]] bool acquire_impatiently(std::uint64_t count) {
    place mine{count};
    if (ask(mine)) return !mine.refused;
    if (leave(mine)) return false;
    return wait(mine);
  }

  void release(std::uint64_t count) {
    if (word_.try_release(count)) return;
    std::deque<place*> next;
    {
      const std::lock_guard hold(line_lock_);
      word_.release(count);
      serve(next);
    }
    tell(next);
  }

  void close() {
    std::deque<place*> next;
    {
      const std::lock_guard hold(line_lock_);
      word_.close();
      std::swap(next, line_);
      for (place* one : next) one->refused = true;
      word_.line_is_empty();
    }
    tell(next);
  }

  [[nodiscard]] std::uint64_t available() const { return word_.available(); }
  [[nodiscard]] bool try_acquire(std::uint64_t count) { return word_.try_acquire(count); }

private:
  /// False if it has to wait.
  bool ask(place& mine) {
    if (word_.try_acquire(mine.count)) return true;
    const std::lock_guard hold(line_lock_);
    const word::answer how = word_.acquire_or_wait(mine.count);
    if (how == word::answer::waits) line_.push_back(&mine);
    mine.refused = how == word::answer::closed;
    return how != word::answer::waits;
  }
  static bool wait(place& mine) {
    explorer::current().block_until([&] { return mine.granted.latest() == 1; }, "permits");
    (void)mine.granted.exchange(0, order::acquire);
    return !mine.refused;
  }
  bool leave(place& mine) {
    std::deque<place*> next;
    {
      const std::lock_guard hold(line_lock_);
      const auto found = std::find(line_.begin(), line_.end(), &mine);
      if (found == line_.end()) return false;
      line_.erase(found);
      serve(next);
    }
    tell(next);
    return true;
  }
  void serve(std::deque<place*>& to) {
    while (!line_.empty()) {
      if (!word_.acquire_in_line(line_.front()->count)) return;
      to.push_back(line_.front());
      line_.pop_front();
    }
    word_.line_is_empty();
  }
  static void tell(const std::deque<place*>& all) {
    for (place* one : all) one->granted.store(1, order::release);
  }

  word word_;
  skua_model::mutex line_lock_;
  std::deque<place*> line_;
};

/// One permit, and something that only its holder touches.
struct one_permit {
  model_semaphore limit{1};
  plain<int> content;
  int sum = 0;  // for afterwards

  void add() {
    if (!limit.acquire(1)) return;
    add_one();
    limit.release(1);
  }
  void add_unless_it_takes_long() {
    if (!limit.acquire_impatiently(1)) return;
    add_one();
    limit.release(1);
  }
  void add_one() {
    content.write(content.read() + 1);
    ++sum;
  }
  void expect_end(int least) const {
    explorer::expect(limit.available() == 1, "the permit came back");
    explorer::expect(sum >= least, "nothing was lost");
  }
};

void three_take_it() {
  one_permit all;
  explorer::run({[&] { all.add(); }, [&] { all.add(); }, [&] { all.add(); }});
  all.expect_end(3);
}

void twice_each() {
  one_permit all;
  auto twice = [&] {
    all.add();
    all.add();
  };
  explorer::run({twice, twice});
  all.expect_end(4);
}

void one_gives_up() {
  one_permit all;
  explorer::run({[&] { all.add(); }, [&] { all.add_unless_it_takes_long(); }, [&] { all.add(); }});
  all.expect_end(2);
  explorer::expect(all.limit.try_acquire(1), "nobody waits any more");
}

/// Two parts, each touched by a holder of one permit; who has both touches both.
void one_wants_all() {
  struct {
    model_semaphore limit{0};
    plain<int> first;
    plain<int> second;
  } all;
  explorer::run({[&] {
                   all.first.write(1);
                   all.limit.release(1);
                 },
                 [&] {
                   all.second.write(1);
                   all.limit.release(1);
                 },
                 [&] {
                   explorer::expect(all.limit.acquire(2), "it is not closed");
                   all.first.write(2);
                   all.second.write(2);
                   all.limit.release(2);
                 }});
  explorer::expect(all.limit.available() == 2, "all permits came back");
}

/// One gives up while another gives back: what is free in the end is free for all.
void gives_up_at_the_last_moment() {
  struct {
    model_semaphore limit{0};
    plain<int> content;
  } all;
  auto if_there_is_one = [&] {
    if (!all.limit.try_acquire(1)) return;
    all.content.write(all.content.read() + 1);
    all.limit.release(1);
  };
  explorer::run({[&] {
                   all.content.write(1);
                   all.limit.release(1);
                 },
                 [&] {
                   if (all.limit.acquire_impatiently(1)) all.limit.release(1);
                 },
                 if_there_is_one});
  explorer::expect(all.limit.available() == 1, "the permit is free");
  explorer::expect(all.limit.try_acquire(1), "nobody waits any more");
}

void is_closed_meanwhile() {
  one_permit all;
  explorer::run({[&] { all.add(); }, [&] { all.add(); }, [&] { all.limit.close(); }});
  all.expect_end(0);
  explorer::expect(!all.limit.try_acquire(1), "it is closed");
}

TEST(semaphore_word_model, never_too_many_and_nobody_is_forgotten) {
  skua_model::expect_clean("three take it", bound(2), three_take_it);
  skua_model::expect_clean("twice each", bound(3), twice_each);
  skua_model::expect_clean("one gives up", bound(2), one_gives_up);
  skua_model::expect_clean("one wants all", bound(2), one_wants_all);
  skua_model::expect_clean("gives up at the last moment", bound(2), gives_up_at_the_last_moment);
  skua_model::expect_clean("is closed meanwhile", bound(2), is_closed_meanwhile);
}

TEST(semaphore_word_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::try_acquire(", side::acquire}, bound(2), twice_each);
  expect_killed({"::try_release(", side::release}, bound(2), twice_each);
  expect_killed({"::acquire_or_wait(", side::acquire}, bound(2), three_take_it);
  expect_killed({"::acquire_or_wait(", side::acquire}, bound(2), one_wants_all);
  expect_killed({"::release(", side::release}, bound(2), gives_up_at_the_last_moment);
}

}  // namespace
