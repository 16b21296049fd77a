// tests/model/spsc_end_test.cpp: one puts in, one takes out, and neither sleeps for ever.
#include "skua/sync/spsc_end.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

/// What skua::spsc does with the two ends, with threads for tasks.
template <std::size_t Places>
class model_queue {
public:
  /// False if the consumer has gone.
  bool put(int value) {
    while (put_ - taken_seen_ == Places) {
      const auto now = taken_end_.look();
      taken_seen_ = now.count;
      if (now.closed) return false;
      if (put_ - taken_seen_ == Places) sleep(taken_end_, taken_seen_, producer_, producer_waits_);
    }
    slots_[put_ % Places].write(value);
    if (put_end_.advance_to(++put_)) wake(consumer_waits_);
    return true;
  }
  void close() {
    if (put_end_.close()) wake(consumer_waits_);
  }

  /// 0 is the end.
  int take() {
    while (taken_ == put_seen_) {
      const auto now = put_end_.look();
      put_seen_ = now.count;
      if (taken_ != put_seen_) break;
      if (now.closed) return 0;
      if (gives_up_once && !std::exchange(has_given_up_, true)) {
        give_up();
        continue;
      }
      sleep(put_end_, put_seen_, consumer_, consumer_waits_);
    }
    const int value = slots_[taken_ % Places].read();
    if (taken_end_.advance_to(++taken_)) wake(producer_waits_);
    return value;
  }

  /// The consumer goes, and does not care what is left.
  void leave() {
    if (taken_end_.close()) wake(producer_waits_);
  }

  bool gives_up_once = false;

private:
  using end = skua::spsc_end<skua_model::atomics>;
  using flag = skua_model::atomic<int>;

  // Who waits is written down first; the one who wakes reads it.
  static void sleep(end& at, std::uint64_t count, flag& mine, plain<flag*>& who) {
    who.write(&mine);
    if (!at.wait_at(count)) return;
    await(mine);
  }
  static void await(flag& mine) {
    explorer::current().block_until([&] { return mine.latest() == 1; }, "the other end");
    (void)mine.exchange(0, order::acquire);
  }
  static void wake(const plain<flag*>& who) { who.read()->store(1, order::release); }

  void give_up() {
    consumer_waits_.write(&consumer_);
    if (!put_end_.wait_at(put_seen_)) return;
    if (!put_end_.withdraw()) await(consumer_);
  }

  end put_end_;
  end taken_end_;
  std::array<plain<int>, Places> slots_;
  plain<flag*> producer_waits_;
  plain<flag*> consumer_waits_;
  flag producer_{0};
  flag consumer_{0};
  bool has_given_up_ = false;
  // The producer's.
  std::uint64_t put_ = 0;
  std::uint64_t taken_seen_ = 0;
  // The consumer's.
  std::uint64_t taken_ = 0;
  std::uint64_t put_seen_ = 0;
};

template <std::size_t Places>
void all_arrive(int count, bool gives_up) {
  model_queue<Places> queue;
  queue.gives_up_once = gives_up;
  explorer::run({[&] {
                   for (int i = 1; i <= count; ++i)
                     explorer::expect(queue.put(i), "the consumer is there");
                   queue.close();
                 },
                 [&] {
                   for (int i = 1; i <= count; ++i)
                     explorer::expect(queue.take() == i, "each arrives once and in order");
                   explorer::expect(queue.take() == 0, "then comes the end");
                 }});
}

void one_place() {
  all_arrive<1>(3, false);
}
void two_places() {
  all_arrive<2>(4, false);
}
void one_gives_up() {
  all_arrive<1>(2, true);
}

void the_consumer_leaves() {
  model_queue<1> queue;
  explorer::run({[&] {
                   for (int i = 1; i <= 3 && queue.put(i); ++i) {
                   }
                 },
                 [&] {
                   explorer::expect(queue.take() == 1, "the first arrives");
                   queue.leave();
                 }});
}

TEST(spsc_end_model, every_message_arrives_and_nobody_sleeps_for_ever) {
  skua_model::expect_clean("one place", bound(3), one_place);
  skua_model::expect_clean("two places", bound(3), two_places);
  skua_model::expect_clean("one gives up", bound(3), one_gives_up);
  skua_model::expect_clean("the consumer leaves", bound(3), the_consumer_leaves);
}

TEST(spsc_end_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::advance_to(", side::release}, bound(3), one_place);
  expect_killed({"::advance_to(", side::acquire}, bound(3), one_place);
  expect_killed({"::close(", side::acquire}, bound(3), one_place);
  expect_killed({"::look(", side::acquire}, bound(3), one_place);
  expect_killed({"::wait_at(", side::release}, bound(3), one_place);
}

}  // namespace
