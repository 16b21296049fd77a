// tests/sync/rw_lock_test.cpp: many read or one writes, and neither kind keeps the other out.
#include "skua/sync/rw_lock.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::rw_lock;
using skua::spawn_local;
using skua::task;

class sync_rw_lock : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_rw_lock, skua_test::every_kind(), skua_test::name_of_kind);

TEST(rw_lock, is_shared_by_readers_and_not_by_writers) {
  rw_lock lock;
  auto first = lock.try_read();
  auto second = lock.try_read();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(lock.try_write());
  first.unlock();
  EXPECT_FALSE(first);
  EXPECT_FALSE(lock.try_write());
  auto moved = std::move(second);
  moved.unlock();
  auto writes = lock.try_write();
  EXPECT_TRUE(writes);
  EXPECT_FALSE(lock.try_read());
  EXPECT_FALSE(lock.try_write());
  writes.unlock();
  EXPECT_TRUE(lock.try_read());
}

TEST(rw_lock, who_writes_can_go_on_reading) {
  rw_lock lock;
  auto writes = lock.try_write();
  const auto reads = std::move(writes).downgrade();
  EXPECT_FALSE(writes);  // NOLINT(bugprone-use-after-move): that is what it says
  EXPECT_TRUE(reads);
  EXPECT_TRUE(lock.try_read());
  EXPECT_FALSE(lock.try_write());
}

TEST(rw_lock_death, an_empty_guard_is_not_downgraded) {
  EXPECT_DEATH((void)rw_lock::write_guard().downgrade(), "that holds a rw_lock");
}

TEST(rw_lock_death, being_destroyed_while_held_says_so) {
  EXPECT_DEATH(
      {
        rw_lock::read_guard outlives;
        rw_lock lock;
        outlives = lock.try_read();
      },
      "destroyed while nobody holds it");
}

task<> read_one(rw_lock& lock, std::string& order) {
  const auto held = co_await lock.read();
  order += 'r';
  co_await skua::yield();
  order += '.';
}
task<> write_one(rw_lock& lock, std::string& order) {
  const auto held = co_await lock.write();
  order += 'w';
  co_await skua::yield();
  order += '.';
}

TEST_P(sync_rw_lock, serves_in_the_order_of_asking_and_readers_together) {
  auto rt = start();
  auto body = []() -> task<> {
    rw_lock lock;
    std::string order;
    auto held = co_await lock.read();
    std::vector<skua::join_handle<void>> all;
    for (const char what : {'w', 'r', 'r', 'w', 'w', 'r'})
      all.push_back(spawn_local(what == 'r' ? read_one(lock, order) : write_one(lock, order)));
    co_await skua::yield();
    EXPECT_EQ(order, "") << "who reads waits behind who wants to write";
    EXPECT_FALSE(lock.try_read());
    held.unlock();
    for (auto& one : all) co_await std::move(one);
    EXPECT_EQ(order, "w.rr..w.w.r.");
    EXPECT_TRUE(lock.try_write());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_rw_lock, downgrading_lets_in_those_who_are_next_to_read) {
  auto rt = start();
  auto body = []() -> task<> {
    rw_lock lock;
    std::string order;
    auto writes = co_await lock.write();
    auto reader = spawn_local(read_one(lock, order));
    auto writer = spawn_local(write_one(lock, order));
    auto late = spawn_local(read_one(lock, order));
    co_await skua::yield();
    auto reads = std::move(writes).downgrade();
    co_await std::move(reader);
    EXPECT_EQ(order, "r.");
    reads.unlock();
    co_await std::move(writer);
    co_await std::move(late);
    EXPECT_EQ(order, "r.w.r.");
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_rw_lock, a_writer_that_is_stopped_in_line_lets_the_readers_behind_go_on) {
  auto rt = start();
  auto body = []() -> task<> {
    rw_lock lock;
    std::string order;
    const auto held = co_await lock.read();
    auto writer = spawn_local(write_one(lock, order));
    auto first = spawn_local(read_one(lock, order));
    auto second = spawn_local(read_one(lock, order));
    co_await skua::yield();
    writer.abort();
    EXPECT_TRUE((co_await writer.outcome()).stopped());
    co_await std::move(first);
    co_await std::move(second);
    EXPECT_EQ(order, "rr..");
    EXPECT_TRUE(lock.try_read());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_rw_lock, is_passed_on_by_one_who_got_it_and_lost_a_race) {
  auto rt = start();
  auto body = []() -> task<> {
    rw_lock lock;
    auto held = lock.try_write();
    auto grant = [&] { held.unlock(); };
    auto read = [&] { return lock.read(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(read, grant));
    held = lock.try_write();
    EXPECT_TRUE(held);
    auto write = [&] { return lock.write(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(write, grant));
    EXPECT_TRUE(lock.try_write());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_rw_lock, may_be_destroyed_by_the_last_who_held_it) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const lock = new rw_lock;
      auto held = co_await lock->read();
      auto ends_it = [](rw_lock* own) -> task<> {
        (co_await own->write()).unlock();
        delete own;
      };
      auto last = skua::spawn(ends_it(lock));
      if (i % 2 == 0) co_await skua::yield();
      held.unlock();
      co_await std::move(last);
    }
  };
  rt.block_on(body());
}

TEST(rw_lock_stress, nobody_reads_while_one_writes) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    rw_lock lock;
    int content = 0;  // plain: ThreadSanitizer sees whether the lock holds
    std::atomic<int> readers = 0;
    auto reads = [&](skua::random_generator own) -> task<> {
      if (own.below(3) == 0) co_await skua::race(lock.read(), skua::yield());
      const auto held = co_await lock.read();
      ++readers;
      const int before = content;
      if (own.below(2) == 0) co_await skua::consume_budget();
      EXPECT_EQ(content, before);
      --readers;
    };
    auto writes = [&](skua::random_generator own) -> task<> {
      if (own.below(3) == 0) co_await skua::race(lock.write(), skua::yield());
      auto held = co_await lock.write();
      EXPECT_EQ(readers, 0);
      const int now = ++content;
      if (own.below(2) == 0) co_return;
      const auto still = std::move(held).downgrade();
      EXPECT_EQ(content, now);
    };
    auto make = [&](skua::random_generator own) {
      return own.below(3) == 0 ? writes(own) : reads(own);
    };
    rt.block_on(skua_test::crowd(100, 3, make, random.split()));
    EXPECT_TRUE(lock.try_write());
  });
}

}  // namespace
