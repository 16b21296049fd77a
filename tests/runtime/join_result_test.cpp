// tests/runtime/join_result_test.cpp: where a result lives between its task's end and its taker.
#include "skua/skua.hpp"
#include "support/event.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::join_handle;
using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;
using skua_test::unseen_exception;

class result : public skua_test::for_each_kind {};

template <std::size_t size>
struct bytes {
  bytes() { at.fill(static_cast<unsigned char>(size)); }
  [[nodiscard]] bool intact() const {
    for (const unsigned char one : at)
      if (one != static_cast<unsigned char>(size)) return false;
    return true;
  }
  std::array<unsigned char, size> at;
};

template <std::size_t size>
task<bytes<size>> give_bytes() {
  co_return bytes<size>();
}

template <std::size_t size>
task<bool> bytes_arrive() {
  auto kept = spawn(give_bytes<size>());
  spawn(give_bytes<size>()).detach();
  auto dropped_after_end = spawn(give_bytes<size>());
  co_await dropped_after_end.wait();
  const bytes<size> got = co_await std::move(kept);
  co_return got.intact();
}

TEST_P(result, of_any_size_arrives) {
  auto rt = start();
  EXPECT_TRUE(rt.block_on(bytes_arrive<1>()));
  EXPECT_TRUE(rt.block_on(bytes_arrive<39>()));
  EXPECT_TRUE(rt.block_on(bytes_arrive<40>()));
  EXPECT_TRUE(rt.block_on(bytes_arrive<47>()));  // with its tag, the last that lies in the cell
  EXPECT_TRUE(rt.block_on(bytes_arrive<48>()));
  EXPECT_TRUE(rt.block_on(bytes_arrive<49>()));
  EXPECT_TRUE(rt.block_on(bytes_arrive<4'096>()));
  EXPECT_TRUE(rt.block_on(bytes_arrive<100'000>()));
}

TEST_P(result, of_large_alignment_lies_well) {
  struct alignas(16) wide {
    std::array<std::uint64_t, 2> words{1, 2};
  };
  struct alignas(16) wider {
    std::array<std::uint64_t, 20> words{1, 2};
  };
  auto rt = start();
  const auto gives = []() -> task<wide> { co_return wide(); };
  const auto gives_more = []() -> task<wider> { co_return wider(); };
  const auto aligned = [](const void* what) { return std::uintptr_t(what) % 16 == 0; };
  const auto script = [&]() -> task<> {
    auto small = spawn(gives);
    auto large = spawn(gives_more);
    auto one = co_await small.outcome();
    auto other = co_await large.outcome();
    EXPECT_TRUE(aligned(&*one) && (*one).words[1] == 2);
    EXPECT_TRUE(aligned(&*other) && (*other).words[1] == 2);
  };
  rt.block_on(script);
}

/// Throws at the n-th of all moves. Says how many there were.
class fragile {
public:
  struct state {
    int throw_at = 0;
    std::atomic<int> moves = 0;
    ledger book;
  };
  explicit fragile(state& of) : of_(&of), counted_(of.book) {}
  // NOLINTNEXTLINE(bugprone-exception-escape, performance-noexcept-move-constructor): it is to
  // throw
  fragile(fragile&& from) : of_(from.of_), counted_(moved(from)) {}
  fragile& operator=(fragile&&) = delete;
  ~fragile() = default;

private:
  static entry moved(fragile& from) {
    if (++from.of_->moves == from.of_->throw_at) throw std::runtime_error("cannot move");
    return std::move(from.counted_);
  }
  state* of_;
  entry counted_;
};

task<fragile> give_fragile(fragile::state& of) {
  co_return fragile(of);
}

task<std::string> take_fragile(fragile::state& of) {
  auto child = spawn(give_fragile(of));
  try {
    const fragile got = co_await std::move(child);
    co_return "value";
  } catch (const std::runtime_error& thrown) {
    co_return thrown.what();
  }
}

TEST_P(result, that_cannot_be_moved_is_an_exception) {
  auto rt = start();
  bool reached = true;
  int tried = 0;
  for (int kth = 1; reached; ++kth) {
    fragile::state of;
    of.throw_at = kth;
    const std::string seen = rt.block_on(take_fragile(of));
    reached = of.moves >= kth;
    EXPECT_EQ(seen, reached ? "cannot move" : "value") << "at move " << kth;
    EXPECT_TRUE(of.book.balanced(1)) << "at move " << kth;
    ++tried;
  }
  EXPECT_GE(tried, 3) << "into the frame, into the cell, to the taker";
  EXPECT_EQ(log.size(), 0U);
}

TEST_P(result, that_cannot_be_moved_out_of_the_frame_of_a_dropped_task_is_reported) {
  auto rt = start();
  bool reached = true;
  std::size_t exceptions = 0;
  for (int kth = 1; reached; ++kth) {
    fragile::state of;
    of.throw_at = kth;
    const auto drops = [&]() -> task<> {
      spawn(give_fragile(of)).detach();
      co_return;
    };
    rt.block_on(drops);
    reached = of.moves >= kth;
    if (reached) ++exceptions;
    EXPECT_TRUE(of.book.balanced(1));
  }
  EXPECT_GE(exceptions, 2U);
  EXPECT_EQ(log.count(unseen_exception), exceptions);
}

/// A result that spawns and joins when it is destroyed would need a runtime; one that aborts others
/// or drops handles does not.
TEST_P(result, may_hold_handles_itself) {
  auto rt = start();
  shared_gate at;
  ledger frames;
  const auto inner = [&](entry) -> task<int> {
    co_await shared_gate::wait(at);
    co_return 1;
  };
  const auto outer = [&]() -> task<join_handle<int>> { co_return spawn(inner(entry(frames))); };
  const auto script = [&]() -> task<int> {
    spawn(outer).detach();                         // both are let go
    join_handle<int> got = co_await spawn(outer);  // one is handed on
    while (at.waiters() < 2) co_await skua::yield();
    at.open();
    co_return co_await std::move(got);
  };
  EXPECT_EQ(rt.block_on(script), 1);
  EXPECT_TRUE(frames.balanced(2));
}

task<entry> give_entry(ledger& book) {
  co_return entry(book);
}

task<entry> fail_with(ledger&) {
  throw std::runtime_error("kept");
  co_return entry(*static_cast<ledger*>(nullptr));
}

task<entry> wait_with(ledger& book, shared_gate& at) {
  co_await shared_gate::wait(at);
  co_return entry(book);
}

/// The handles of three tasks, ended by value, exception and stop, whose runtime is gone.
struct three_ends {
  explicit three_ends(skua::runtime rt) {
    value.emplace(rt.spawn(give_entry(book)));
    exception.emplace(rt.spawn(fail_with(book)));
    stopped.emplace(rt.spawn(wait_with(book, never)));
    const auto ended = [&]() -> task<> {
      co_await value->wait();
      co_await exception->wait();
    };
    rt.block_on(ended);
  }
  ledger book;
  shared_gate never;
  std::optional<join_handle<entry>> value, exception, stopped;
};

TEST_P(result, outlives_the_runtime) {
  three_ends left(start());
  EXPECT_TRUE(left.value->done() && left.exception->done() && left.stopped->done());
  left.value->abort();
  EXPECT_NE(left.value->id(), left.exception->id());
  {
    const auto got = skua::sync_wait(left.value->outcome());
    EXPECT_TRUE(got.has_value() && (*got).whole());
  }
  EXPECT_TRUE(skua::sync_wait(left.exception->outcome()).has_exception());
  skua::sync_wait(left.stopped->wait());
  EXPECT_TRUE(skua::sync_wait(left.stopped->outcome()).stopped());
  EXPECT_TRUE(left.book.balanced(1));
  EXPECT_EQ(log.size(), 0U);
}

TEST_P(result, that_outlives_the_runtime_can_be_dropped_by_another_thread) {
  three_ends left(start());
  std::thread([&] { left.stopped.reset(); }).join();
  std::thread([&] { left.value.reset(); }).join();
  EXPECT_TRUE(left.book.balanced(1));
  EXPECT_EQ(log.count(unseen_exception), 0U);
  std::thread([&] { left.exception.reset(); }).join();
  EXPECT_EQ(log.count(unseen_exception), 1U);
}

TEST_P(result, that_outlives_the_runtime_can_be_taken_in_another_runtime) {
  three_ends left(start());
  auto other = start();
  const auto takes = [&]() -> task<> {
    const entry got = co_await *std::move(left.value);
    EXPECT_TRUE(got.whole());
    const auto how = co_await left.exception->outcome();
    EXPECT_TRUE(how.has_exception());
    left.stopped.reset();
  };
  other.block_on(takes);
  EXPECT_TRUE(left.book.balanced(1));
}

TEST_P(result, keeps_the_runtime_s_memory_until_the_last_of_many_threads_lets_go) {
  ledger book;
  std::vector<join_handle<entry>> held;
  {
    auto rt = start();
    for (int i = 0; i < 400; ++i) held.push_back(rt.spawn(give_entry(book)));
    const auto all = [&]() -> task<> {
      for (auto& one : held) co_await one.wait();
    };
    rt.block_on(all);
  }
  std::atomic<std::size_t> next = 0;
  const auto drop_some = [&] {
    for (std::size_t i = next++; i < held.size(); i = next++) held[i].detach();
  };
  {
    std::vector<std::jthread> droppers;
    for (int i = 0; i < 4; ++i) droppers.emplace_back(drop_some);
  }
  EXPECT_TRUE(book.balanced(400));
}

TEST_P(result, of_a_task_that_a_thread_waits_for_while_the_runtime_ends_arrives) {
  shared_gate never;
  ledger book;
  for (int round = 0; round < 20; ++round) {
    std::optional<skua::runtime> rt(start());
    auto child = rt->spawn(wait_with(book, never));
    skua_test::event waits;
    std::thread waiter([&] {
      waits.set();
      EXPECT_TRUE(skua::sync_wait(child.outcome()).stopped());
    });
    waits.wait();
    rt.reset();
    waiter.join();
  }
  EXPECT_TRUE(book.balanced(0));
}

task<> wait_for(shared_gate& door) {
  co_await shared_gate::wait(door);
}

task<> wait_for_both(shared_gate& door, join_handle<void> other) {
  co_await shared_gate::wait(door);
  co_await std::move(other);
}

TEST_P(result, of_waiting_for_a_stopped_task_is_a_failure_if_nobody_stopped_the_waiter) {
  auto rt = start();
  shared_gate door;
  rt.block_on([&]() -> task<> {
    auto stopped = spawn(wait_for(door));
    stopped.abort();
    auto waiter = spawn(wait_for_both(door, std::move(stopped)));
    while (door.waiters() == 0) co_await skua::yield();
    door.open();
    EXPECT_TRUE((co_await std::move(waiter).outcome()).has_exception());
  });
}

TEST_P(result, of_waiting_for_a_stopped_task_is_a_stop_if_the_waiter_was_stopped_too) {
  auto rt = start();
  shared_gate door;
  rt.block_on([&]() -> task<> {
    auto stopped = spawn(wait_for(door));
    stopped.abort();
    auto waiter = spawn(skua::shielded(wait_for_both(door, std::move(stopped))));
    while (door.waiters() == 0) co_await skua::yield();
    waiter.abort();  // which the shield keeps from it
    door.open();
    EXPECT_TRUE((co_await std::move(waiter).outcome()).stopped());
  });
}

INSTANTIATE_TEST_SUITE_P(runtimes, result, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
