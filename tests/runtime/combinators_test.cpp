// tests/runtime/combinators_test.cpp: whatever is awaited within whatever ends, and leaves nothing.
#include "skua/skua.hpp"
#include "sync/crowd.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::random_generator;
using skua::scope;
using skua::task;

/// What all nodes of all trees share.
struct world {
  skua::mutex lock;
  skua::semaphore permits{2};
  std::pair<skua::mpmc::sender<int>, skua::mpmc::receiver<int>> channel =
      skua::mpmc::channel<int>(2);
  std::atomic<long> alive = 0;
  std::atomic<long> sent = 0;
  std::atomic<long> received = 0;
};

/// Lives in a frame.
class counted {
public:
  explicit counted(world& in) : in_(in) { ++in_.alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --in_.alive; }

private:
  world& in_;
};

task<int> grow(world& in, random_generator random, int depth);

task<int> leaf_of(world& in, random_generator random) {
  const counted here(in);
  switch (random.below(8)) {
    case 0: {
      const auto held = co_await in.lock.lock();
      co_await skua::yield();
      break;
    }
    case 1: {
      const auto some = co_await in.permits.acquire(1 + random.below(2));
      co_await skua::yield();
      break;
    }
    case 2: {
      const auto how = co_await in.channel.first.send(1);
      if (how) ++in.sent;
      break;
    }
    case 3: {
      const auto one = co_await in.channel.second.receive();
      if (one) ++in.received;
      break;
    }
    case 4:
      co_await skua::sleep(std::chrono::microseconds(random.below(300)));
      break;
    case 5:
      if (random.below(8) == 0) throw std::runtime_error("at random");
      break;
    default:
      for (auto i = random.below(4); i > 0; --i) co_await skua::yield();
  }
  co_return 1;
}

task<> no_value(task<int> inner) {
  co_await std::move(inner);
}

task<int> in_a_scope(world& in, random_generator random, int depth) {
  auto fill = [](scope& children, world& with, random_generator own, int deep) -> task<> {
    for (auto i = own.below(3); i > 0; --i) children.spawn(no_value(grow(with, own.split(), deep)));
    co_await no_value(grow(with, own.split(), deep));
  };
  co_await skua::with_scope(fill, std::ref(in), random.split(), depth);
  co_return 1;
}

task<int> for_several(world& in, random_generator random, int depth) {
  std::vector<std::uint64_t> seeds(random.below(5));
  for (auto& one : seeds) one = random.next();
  auto each = [&in, depth](std::uint64_t seed) -> task<> {
    co_await no_value(grow(in, random_generator(seed), depth));
  };
  co_await skua::for_each_concurrent(seeds, 2, each);
  co_return 1;
}

task<int> with_clean_up(world& in, random_generator random, int depth) {
  const auto got = co_await skua::as_outcome(grow(in, random.split(), depth));
  co_await skua::shielded(skua::yield());
  co_return got.has_value() ? 1 : 0;
}

/// A tree of everything, each part of which ends, fails, or is stopped.
task<int> grow(world& in, random_generator random, int depth) {
  const counted here(in);
  if (depth == 0) co_return co_await leaf_of(in, random.split());
  const auto inner = [&] { return grow(in, random.split(), depth - 1); };
  const auto length = std::chrono::microseconds(random.below(500));
  switch (random.below(10)) {
    case 0: {
      auto both = co_await skua::when_all(inner(), inner());
      co_return std::get<0>(both) + std::get<1>(both);
    }
    case 1:
      co_return co_await skua::race(inner(), inner(), inner());
    case 2: {
      auto which = co_await skua::select(inner(), skua::sleep(length));
      co_return which.index() == 0 ? 1 : 0;
    }
    case 3: {
      auto limited = co_await skua::timeout(length, inner());
      co_return limited.has_value() ? 1 : 0;
    }
    case 4: {
      auto limited = co_await skua::with_deadline(skua::now() + length, inner());
      co_return limited.has_value() ? 1 : 0;
    }
    case 5: {
      auto both = co_await skua::parallel_all(inner(), inner());
      co_return std::get<0>(both) + std::get<1>(both);
    }
    case 6:
      co_return co_await in_a_scope(in, random.split(), depth - 1);
    case 7:
      co_return co_await for_several(in, random.split(), depth - 1);
    case 8:
      co_return co_await with_clean_up(in, random.split(), depth - 1);
    default: {
      skua::task_group<int> group(2);
      for (int i = 0; i < 3; ++i) group.spawn(inner());
      auto first = co_await group.join_next();
      co_return first && first->has_value() ? 1 : 0;
    }
  }
}

/// Takes what nobody takes, and sends what is waited for.
task<> keep_moving(world& in, std::atomic<bool>& over) {
  while (!over) {
    if (in.channel.second.try_receive()) ++in.received;
    if (in.channel.first.try_send(1)) ++in.sent;
    co_await skua::yield();
  }
}

task<> one_round(world& in, random_generator random) {
  std::atomic<bool> over = false;
  auto helper = skua::spawn(keep_moving(in, over));
  auto make = [&in](random_generator own) -> task<> {
    try {
      co_await no_value(grow(in, own.split(), 4));
    } catch (const std::runtime_error&) {
      co_return;
    } catch (const skua::task_cancelled&) {  // of a part that was stopped
      co_return;
    }
  };
  co_await skua_test::crowd(12, 3, make, random.split());
  over = true;
  co_await std::move(helper);
}

TEST(combinators, within_each_other_end_and_leave_nothing) {
  skua_test::for_some_time([](skua::runtime& rt, random_generator& random) {
    world in;
    rt.block_on(one_round(in, random.split()));  // and those that a task_group left behind
    while (in.channel.second.try_receive()) ++in.received;
    ASSERT_EQ(in.alive, 0);
    ASSERT_EQ(in.sent, in.received) << "a message was lost, or came twice";
    ASSERT_EQ(in.permits.available(), 2U);
    ASSERT_TRUE(in.lock.try_lock());
  });
}

}  // namespace
