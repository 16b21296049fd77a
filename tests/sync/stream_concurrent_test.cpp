// tests/sync/stream_concurrent_test.cpp: merged and buffered streams lose nothing, and end well.
#include "skua/sync/stream_concurrent.hpp"

#include "skua/coro/shielded.hpp"
#include "skua/coro/stream.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/stream_buffered.hpp"
#include "skua/sync/stream_merge.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/memory_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace stream = skua::stream;
using skua::async_generator;
using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;
using ints = std::vector<int>;

/// Counts those that are alive.
class counted {
public:
  explicit counted(int& alive) noexcept : alive_(alive) { ++alive_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive_; }

private:
  int& alive_;
};

/// first, first + 1, ... with a turn for others before each.
async_generator<int> numbers(int first, int count, int* alive = nullptr) {
  int nobody = 0;
  const counted here(alive != nullptr ? *alive : nobody);
  for (int i = 0; i < count; ++i) {
    co_await skua::yield();
    co_yield first + i;
  }
}

async_generator<int> at_once(int first, int count) {
  for (int i = 0; i < count; ++i) co_yield first + i;
}

async_generator<int> opened(gate& at, int* alive = nullptr) {
  int nobody = 0;
  const counted here(alive != nullptr ? *alive : nobody);
  for (;;) co_yield co_await gate::wait(at);
}

async_generator<int> fails_after(int first, int count) {
  for (int i = 0; i < count; ++i) co_yield first + i;
  co_await skua::yield();
  throw std::runtime_error("source");
}

ints sorted(ints values) {
  std::sort(values.begin(), values.end());
  return values;
}
ints range(int first, int count) {
  ints all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

// --- merge

TEST(merge, gives_all_values_of_all_sources) {
  EXPECT_EQ(sorted(sync_wait(
                stream::collect(stream::merge(numbers(0, 5), numbers(5, 2), at_once(7, 3))))),
            range(0, 10));
}

TEST(merge, of_a_vector_gives_all_values_too) {
  std::vector<async_generator<int>> sources;
  for (int i = 0; i < 20; ++i) sources.push_back(numbers(10 * i, 10));
  EXPECT_EQ(sorted(sync_wait(stream::collect(stream::merge(std::move(sources))))), range(0, 200));
  EXPECT_EQ(sync_wait(stream::collect(stream::merge(std::vector<async_generator<int>>()))), ints());
}

TEST(merge, keeps_the_order_of_each_source_and_is_fair) {
  const ints all = sync_wait(stream::collect(stream::merge(at_once(0, 100), at_once(1'000, 100))));
  ints left;
  ints right;
  int longest = 0;
  int length = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    (all[i] < 1'000 ? left : right).push_back(all[i]);
    const bool same = i > 0 && (all[i] < 1'000) == (all[i - 1] < 1'000);
    length = same ? length + 1 : 1;
    longest = std::max(longest, length);
  }
  EXPECT_EQ(left, range(0, 100));
  EXPECT_EQ(right, range(1'000, 100));
  EXPECT_LE(longest, 2);
}

TEST(merge, gives_a_value_while_the_other_source_waits) {
  manual_executor here;
  gate first;
  gate second;
  ints seen;
  auto body = [&]() -> task<> {
    auto note = [&seen](int n) { seen.push_back(n); };
    auto three = stream::merge(opened(first), opened(second)) | stream::take(3);
    co_await stream::for_each(std::move(three), note);
  };
  driven<void> all(here, body());
  here.run_ready();
  second.open(2);
  here.run_ready();
  EXPECT_EQ(seen, (ints{2}));
  second.open(3);
  here.run_ready();
  first.open(1);
  here.run_ready();
  EXPECT_EQ(seen, (ints{2, 3, 1}));
  ASSERT_TRUE(all.ended()) << "the sources that wait are stopped when no more is wanted";
  EXPECT_EQ(first.cancels() + second.cancels(), 2);
}

TEST(merge, awaits_a_source_that_does_not_let_go_at_once) {
  manual_executor here;
  gate slow;
  slow.answer = skua::cancel_answer::pending;
  int alive = 0;
  auto body = [&]() -> task<ints> {
    co_return co_await stream::collect(stream::merge(opened(slow, &alive), at_once(5, 2)) |
                                       stream::take(2));
  };
  driven<ints> all(here, body());
  here.run_ready();
  EXPECT_EQ(slow.cancels(), 1);
  EXPECT_FALSE(all.ended());
  EXPECT_EQ(alive, 1);
  slow.open_cancelled();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(std::move(all.result()).value(), range(5, 2));
}

TEST(merge, asks_a_source_for_one_value_more_than_is_wanted) {
  int asked = 0;
  auto source = [](int& count) -> async_generator<int> {
    for (;;) co_yield ++count;
  };
  EXPECT_EQ(sync_wait(stream::collect(stream::merge(source(asked)) | stream::take(3))).size(), 3U);
  EXPECT_LE(asked, 4);
}

TEST(merge, gives_what_has_come_before_it_throws_and_stops_the_others) {
  manual_executor here;
  gate waits;
  int alive = 0;
  ints seen;
  auto body = [&]() -> task<int> {
    auto note = [&seen](int n) { seen.push_back(n); };
    auto all = stream::merge(opened(waits, &alive), fails_after(0, 3), at_once(10, 2));
    try {
      co_await stream::for_each(std::move(all), note);
    } catch (const std::runtime_error&) {
      co_return alive;
    }
    co_return -1;
  };
  driven<int> all(here, body());
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(std::move(all.result()).value(), 0) << "all sources have ended when it throws";
  EXPECT_EQ(waits.cancels(), 1);
  EXPECT_EQ(sorted(seen), (ints{0, 1, 2, 10, 11}));
}

TEST(merge, a_value_that_waits_is_given_although_another_source_has_thrown) {
  manual_executor here;
  gate door;
  gate breaks;
  ints seen;
  auto body = [&]() -> task<> {
    auto slow = [&](int n) -> task<> {
      seen.push_back(n);
      if (seen.size() == 1) co_await gate::wait(door);
    };
    auto fails = [](int n) -> int { throw std::runtime_error(std::to_string(n)); };
    auto bad = opened(breaks) | stream::map(fails);
    co_await stream::for_each(stream::merge(at_once(10, 5), std::move(bad)), slow);
  };
  driven<void> all(here, body());
  here.run_ready();
  ASSERT_EQ(seen, (ints{10}));
  breaks.open();
  here.run_ready();
  ASSERT_FALSE(all.ended());
  door.open();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
  EXPECT_EQ(seen, (ints{10, 11}));
}

TEST(merge, an_exception_can_be_caught_where_values_are_asked_for) {
  auto body = [](async_generator<int> values) -> task<int> {
    int seen = 0;
    try {
      while (auto one = co_await values.next()) ++seen;
    } catch (const std::runtime_error&) {
      seen += 100;
    }
    co_return seen;
  };
  EXPECT_EQ(sync_wait(stream::use(stream::merge(fails_after(0, 2)), body)), 102);
}

TEST(merge, of_merged_streams_is_a_stream_like_others) {
  auto twice = [](int n) { return 2 * n; };
  auto inner = stream::merge(numbers(0, 3), numbers(3, 3)) | stream::map(twice);
  EXPECT_EQ(sorted(sync_wait(stream::collect(stream::merge(std::move(inner), numbers(100, 2))))),
            (ints{0, 2, 4, 6, 8, 10, 100, 101}));
}

TEST(merge, carries_what_can_only_be_moved) {
  auto own = [](int n) { return std::make_unique<int>(n); };
  auto open = [](std::unique_ptr<int> n) { return *n; };
  auto all = stream::merge(numbers(0, 2) | stream::map(own), numbers(2, 2) | stream::map(own));
  EXPECT_EQ(sorted(sync_wait(stream::collect(std::move(all) | stream::map(open)))), range(0, 4));
}

TEST(merge, allocates_nothing_for_a_value) {
  std::optional<skua_test::memory_limit> none;
  bool allocated = true;
  auto note = [&](int n) {
    if (n == 10) none.emplace(1);
    if (n != 90) return;
    allocated = none->reached();
    none.reset();
  };
  sync_wait(stream::for_each(stream::merge(numbers(0, 100), at_once(1'000, 100)), note));
  EXPECT_FALSE(allocated);
}

TEST(merge, a_loop_can_be_left) {
  int sum = 0;
  auto up_to_ten = [&sum](int n) {
    sum += n;
    return sum < 10 ? stream::flow::go_on : stream::flow::leave;
  };
  EXPECT_EQ(sync_wait(stream::for_each(stream::merge(at_once(1, 100), at_once(1, 100)), up_to_ten)),
            stream::flow::leave);
  EXPECT_GE(sum, 10);
  EXPECT_LT(sum, 20);
}

// --- use

TEST(use, gives_what_the_function_gives_or_throws) {
  auto one = [](async_generator<int> values) -> task<int> {
    auto first = co_await values.next();
    co_return *first;
  };
  EXPECT_EQ(sync_wait(stream::use(stream::merge(numbers(7, 100)), one)), 7);
  auto fails = [](async_generator<int>) -> task<> {
    co_await skua::yield();
    throw std::logic_error("use");
  };
  EXPECT_THROW(sync_wait(stream::use(stream::merge(numbers(7, 100)), fails)), std::logic_error);
  auto refuses = [](async_generator<int>) -> task<> { throw std::logic_error("use"); };
  EXPECT_THROW(sync_wait(stream::use(stream::merge(numbers(7, 100)), refuses)), std::logic_error);
}

TEST(use, values_that_were_given_away_are_over_when_it_is) {
  std::optional<async_generator<int>> kept;
  auto steal = [&kept](async_generator<int> values) -> task<> {
    co_await values.next();
    kept.emplace(std::move(values));
  };
  auto body = [&]() -> task<bool> {
    co_await stream::use(stream::merge(numbers(0, 100), numbers(0, 100)), steal);
    auto after = co_await kept->next();
    co_return after.has_value();
  };
  EXPECT_FALSE(sync_wait(body()));
}

/// Runs `body(alive)` up to its k-th turn and stops it there, for every k, until it ends by itself.
template <typename T, typename Body>
void stop_everywhere(Body body) {
  for (int turns = 0;; ++turns) {
    int alive = 0;
    manual_executor here;
    driven<T> all(here, body(alive));
    for (int i = 0; i < turns && !all.ended(); ++i) here.run_one();
    if (all.ended()) {
      EXPECT_GT(turns, 1);
      break;
    }
    all.request_stop();
    here.run_ready();
    ASSERT_TRUE(all.ended()) << "stopped in turn " << turns;
    EXPECT_EQ(alive, 0) << "stopped in turn " << turns;
  }
}

task<ints> merges(int& alive) {
  const counted here(alive);
  co_return co_await stream::collect(stream::merge(numbers(0, 4, &alive), numbers(9, 2, &alive)));
}

TEST(merge, can_be_stopped_in_every_turn) {
  stop_everywhere<ints>([](int& alive) { return merges(alive); });
}

// Sources that were stopped have not ended: nobody takes what has come for everything.
TEST(merge, that_was_stopped_while_its_user_was_busy_does_not_end_as_if_that_were_all) {
  manual_executor here;
  gate at;
  bool went_on = false;
  auto body = [](gate& where, bool& after) -> task<> {
    auto waits = [](gate& there) -> task<> { co_await gate::wait(there); };
    auto busy = [&](int) -> task<> { co_await skua::shielded(waits(where)); };
    co_await stream::for_each(stream::merge(numbers(0, 4), numbers(9, 2)), busy);
    after = true;
  };
  driven<void> all(here, body(at, went_on));
  here.run_ready();
  ASSERT_TRUE(at.waited_for());
  all.request_stop();
  here.run_ready();
  at.open(1);
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
  EXPECT_FALSE(went_on);
}

// --- buffered

task<int> after_turns(int value, int turns, int* alive = nullptr) {
  int nobody = 0;
  const counted here(alive != nullptr ? *alive : nobody);
  for (; turns > 0; --turns) co_await skua::yield();
  co_return value;
}

struct load {
  int now = 0;
  int most = 0;
};
task<int> under_load(int value, load& measured) {
  measured.most = std::max(measured.most, ++measured.now);
  for (int i = (value * 7) % 5; i >= 0; --i) co_await skua::yield();
  --measured.now;
  co_return value;
}

TEST(buffered, gives_results_in_the_order_of_the_source) {
  load measured;
  auto begin = [&measured](int n) { return under_load(n, measured); };
  EXPECT_EQ(sync_wait(stream::collect(at_once(0, 50) | stream::buffered(4, begin))), range(0, 50));
  EXPECT_EQ(measured.most, 4);
}

TEST(buffered, of_one_is_one_after_the_other) {
  load measured;
  auto begin = [&measured](int n) { return under_load(n, measured); };
  EXPECT_EQ(sync_wait(stream::collect(numbers(0, 9) | stream::buffered(1, begin))), range(0, 9));
  EXPECT_EQ(measured.most, 1);
}

task<std::size_t> length_later(const std::string& text) {
  co_await skua::yield();
  co_return text.size();
}
TEST(buffered, keeps_what_its_function_takes_by_reference) {
  auto text_of = [](int n) { return std::string(static_cast<std::size_t>(n), 'x'); };
  const auto lengths = stream::buffered(3, length_later);
  const std::vector<std::size_t> all{100, 101, 102};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(sync_wait(stream::collect(at_once(100, 3) | stream::map(text_of) | lengths)), all);
}

TEST(buffered, unordered_gives_what_is_ready_first) {
  auto begin = [](int n) { return after_turns(n, n == 0 ? 40 : 1); };
  const ints all = sync_wait(stream::collect(at_once(0, 6) | stream::buffered_unordered(3, begin)));
  EXPECT_EQ(sorted(all), range(0, 6));
  EXPECT_EQ(all.back(), 0);
}

TEST(buffered, gives_units_for_what_gives_nothing) {
  int sum = 0;
  auto add = [&sum](int n) -> task<> {
    co_await skua::yield();
    sum += n;
  };
  const auto units = sync_wait(stream::collect(at_once(0, 5) | stream::buffered(2, add)));
  EXPECT_EQ(units.size(), 5U);
  EXPECT_EQ(sum, 10);
}

TEST(buffered, takes_merged_streams_and_more_adaptors) {
  auto begin = [](int n) { return after_turns(n, 3); };
  auto odd = [](int n) { return n % 2 == 1; };
  auto all = stream::merge(numbers(0, 5), numbers(5, 5)) | stream::buffered(3, begin) |
             stream::filter(odd);
  EXPECT_EQ(sorted(sync_wait(stream::collect(std::move(all)))), (ints{1, 3, 5, 7, 9}));
}

task<int> fails_at(int value, int bad, int& alive) {
  const counted here(alive);
  if (value == bad) throw std::runtime_error("bad");
  for (int i = value < bad ? 10 : 100'000; i > 0; --i) co_await skua::yield();
  co_return value;
}

TEST(buffered, gives_the_results_before_the_one_that_throws) {
  int alive = 0;
  ints seen;
  auto begin = [&alive](int n) { return fails_at(n, 5, alive); };
  auto note = [&seen](int n) { seen.push_back(n); };
  auto body = [&]() -> task<> {
    co_await stream::for_each(at_once(0, 100) | stream::buffered(4, begin), note);
  };
  EXPECT_THROW(sync_wait(body()), std::runtime_error);
  EXPECT_EQ(seen, range(0, 5));
  EXPECT_EQ(alive, 0);
}

TEST(buffered, a_source_that_throws_has_its_place_in_the_order) {
  auto begin = [](int n) { return after_turns(n, 20 - n); };
  ints seen;
  auto note = [&seen](int n) { seen.push_back(n); };
  auto body = [&]() -> task<> {
    co_await stream::for_each(fails_after(0, 3) | stream::buffered(8, begin), note);
  };
  EXPECT_THROW(sync_wait(body()), std::runtime_error);
  EXPECT_EQ(seen, range(0, 3));
}

TEST(buffered, unordered_stops_the_others_when_one_throws) {
  int alive = 0;
  auto begin = [&alive](int n) { return fails_at(n, 2, alive); };
  auto body = [&]() -> task<> {
    co_await stream::collect(at_once(2, 100) | stream::buffered_unordered(4, begin));
  };
  EXPECT_THROW(sync_wait(body()), std::runtime_error);
  EXPECT_EQ(alive, 0);
}

TEST(buffered, a_failure_ends_streams_that_never_wait) {
  auto at_once_or_not = [](int n) -> task<int> {
    if (n == 3) throw std::runtime_error("three");
    co_return n;
  };
  auto forever = []() -> async_generator<int> {
    for (int i = 0;; ++i) co_yield i;
  };
  EXPECT_THROW(
      sync_wait(stream::collect(forever() | stream::buffered_unordered(4, at_once_or_not))),
      std::runtime_error);
  auto merged = stream::merge(forever(), fails_after(0, 3));
  EXPECT_THROW(sync_wait(stream::collect(std::move(merged))), std::runtime_error);
}

task<ints> buffers(int& alive, bool in_order) {
  const counted here(alive);
  auto begin = [&alive](int n) { return after_turns(n, 1 + n % 3, &alive); };
  auto several = in_order ? stream::buffered(3) : stream::buffered_unordered(3);
  co_return co_await stream::collect(numbers(0, 5, &alive) | stream::unawaited(begin) | several);
}

TEST(buffered, can_be_stopped_in_every_turn) {
  stop_everywhere<ints>([](int& alive) { return buffers(alive, true); });
  stop_everywhere<ints>([](int& alive) { return buffers(alive, false); });
}

TEST(buffered_death, none_under_way_says_so) {
  EXPECT_DEATH(static_cast<void>(stream::buffered(0)), "at least one under way");
}

}  // namespace
