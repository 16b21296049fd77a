// tests/issues/crossbeam_cve_2021_32810_test.cpp: a steal beside the owner taking a batch.
//
// one task went to thief and owner, another to none.  crossbeam-deque, CVE-2021-32810: while the
// owner popped, a thief took several tasks at once and did not notice that the head it had read was
// no longer the queue's: a task was run twice, its memory freed twice, and another one was lost.
// Here whoever takes, owner or thief, one task or half of them, exchanges the head it has read for
// the next, and starts over if that fails: local_queue::take_half(), pop() and claim_half().
#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"
#include "sched/local_queue.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

namespace {

using skua::work;
using skua_model::explorer;
using skua_model::limits;
using queue = skua::local_queue<skua_model::atomics, 4>;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
  int taken = 0;
};

bool take(work* found) {
  if (found == nullptr) return false;
  explorer::expect(++static_cast<item*>(found)->taken == 1, "each item is taken once");
  return true;
}

/// A full ring, and what its owner and one thief do with it at once.
class robbery {
public:
  robbery() {
    for (int i = 0; i < 4; ++i) push_one();
  }
  void push_one() { victim_.push(all_[pushed_++], overflow_); }
  void pop_one() { take(victim_.pop()); }

  void against(const std::function<void()>& owner) {
    explorer::run({owner, [this] { take(victim_.steal_into(thief_)); }});
    while (take(victim_.pop())) {
    }
    while (take(thief_.pop())) {
    }
    while (!overflow_.empty()) take(overflow_.pop_front());
    for (std::size_t i = 0; i < pushed_; ++i) explorer::expect(all_[i].taken == 1, "none is lost");
  }

private:
  std::array<item, 8> all_;
  std::size_t pushed_ = 0;
  queue victim_;
  queue thief_;
  skua::work_queue overflow_;
};

void while_half_overflows() {
  const auto one = std::make_unique<robbery>();
  one->against([&] {
    one->push_one();  // moves half of the ring out
    one->push_one();
  });
}

void while_the_owner_pops() {
  const auto one = std::make_unique<robbery>();
  one->against([&] {
    one->pop_one();
    one->pop_one();
    one->push_one();
  });
}

TEST(crossbeam_cve_2021_32810, a_batch_that_races_the_owner_takes_nothing_twice) {
  limits within;
  within.preemptions = 3;
  skua_model::expect_clean("while half of the ring overflows", within, while_half_overflows);
  skua_model::expect_clean("while the owner pops", within, while_the_owner_pops);
}

}  // namespace
