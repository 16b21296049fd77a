// tests/model/inbox_test.cpp: several push, one takes and sleeps: none is lost, none is late.
#include "sched/inbox.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using skua::work;
using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
  plain<int> content;
  int taken = 0;
};

/// A worker that sleeps until it is woken, with a token as its driver has one.
template <std::size_t Count>
struct worker {
  skua::inbox<skua_model::atomics> box;
  std::array<item, Count> items;
  skua_model::atomic<int> token{0};
  int left = Count;

  void send(std::size_t index) {
    items[index].content.write(7);
    if (box.push(items[index])) (void)token.exchange(1, order::release);
  }

  void run() {
    while (left > 0) {
      skua::work_queue taken;
      box.take_all(taken);
      while (work* const found = taken.pop_front()) {
        auto& one = static_cast<item&>(*found);
        explorer::expect(one.content.read() == 7, "the item is seen whole");
        explorer::expect(++one.taken == 1, "each is got once");
        --left;
      }
      if (left == 0) break;
      explorer::current().block_until([this] { return token.latest() == 1; }, "a wake");
      (void)token.exchange(0, order::acquire);
    }
    explorer::expect(box.size() == 0, "the length goes back to nothing");
  }
};

void one_sender() {
  worker<2> to;
  explorer::run({[&] { to.run(); },
                 [&] {
                   to.send(0);
                   to.send(1);
                 }});
}

void two_senders() {
  worker<3> to;
  explorer::run({[&] { to.run(); },
                 [&] {
                   to.send(0);
                   to.send(1);
                 },
                 [&] { to.send(2); }});
}

TEST(inbox_model, none_is_lost_though_only_who_finds_it_empty_wakes) {
  skua_model::expect_clean("one sender", bound(3), one_sender);
  skua_model::expect_clean("two senders", bound(2), two_senders);
}

TEST(inbox_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::push(", side::release}, bound(2), two_senders);
  expect_killed({"::take_all(", side::acquire}, bound(2), two_senders);
}

}  // namespace
