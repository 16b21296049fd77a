// tests/sync/owned_test.cpp: who holds something of it keeps it alive.
#include "skua/sync/owned.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace {

using skua::mutex;
using skua::semaphore;
using skua::spawn_local;
using skua::task;
using shared_mutex = std::shared_ptr<mutex>;
using shared_semaphore = std::shared_ptr<semaphore>;

class sync_owned : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_owned, skua_test::every_kind(), skua_test::name_of_kind);

TEST(owned, a_guard_is_the_last_to_hold_its_mutex) {
  auto lock = std::make_shared<mutex>();
  const std::weak_ptr<mutex> watch = lock;
  auto held = skua::try_lock_owned(std::move(lock));
  EXPECT_TRUE(held);
  EXPECT_FALSE(skua::try_lock_owned(watch.lock()));
  EXPECT_EQ(held.owner(), watch.lock());
  held->unlock();
  EXPECT_FALSE(held);
  EXPECT_FALSE(watch.expired());
  held = {};
  EXPECT_TRUE(watch.expired());
}

TEST(owned, assigning_gives_back_before_it_lets_go) {
  auto held = skua::try_lock_owned(std::make_shared<mutex>());
  held = skua::try_lock_owned(std::make_shared<mutex>());  // the first dies unlocked, or says so
  EXPECT_TRUE(held);
  auto permit = skua::try_acquire_owned(std::make_shared<semaphore>(2U), 2);
  permit = skua::try_acquire_owned(std::make_shared<semaphore>(1U));
  EXPECT_EQ(permit->count(), 1U);
}

TEST(owned, refused_owns_nothing) {
  auto limit = std::make_shared<semaphore>(0U);
  EXPECT_FALSE(skua::try_acquire_owned(limit));
  EXPECT_EQ(limit.use_count(), 1);
}

TEST(owned_death, a_wait_that_has_given_its_owner_away_says_so) {
  auto body = []() -> task<> {
    auto wait = skua::lock_owned(std::make_shared<mutex>());
    (void)co_await wait;
    (void)co_await wait;
  };
  EXPECT_DEATH(skua::sync_wait(body()), "await it once");
}

TEST(owned_death, a_null_pointer_says_so) {
  EXPECT_DEATH((void)skua::try_lock_owned(shared_mutex()), "no mutex behind a null pointer");
  EXPECT_DEATH((void)skua::try_acquire_owned(shared_semaphore()), "no semaphore behind a null");
}

TEST_P(sync_owned, a_member_is_owned_by_its_whole) {
  struct whole {
    mutex lock;
    int number = 1;
  };
  auto rt = start();
  auto body = []() -> task<> {
    auto all = std::make_shared<whole>();
    const std::weak_ptr<whole> watch = all;
    auto held = co_await skua::lock_owned(std::shared_ptr<mutex>(all, &all->lock));
    all.reset();
    EXPECT_FALSE(watch.expired());
    held = {};
    EXPECT_TRUE(watch.expired());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_owned, what_is_held_moves_into_another_task) {
  auto rt = start();
  auto body = []() -> task<> {
    auto limit = std::make_shared<semaphore>(1U);
    auto held = co_await skua::acquire_owned(limit);
    EXPECT_TRUE(held);
    auto ends = [](skua::owned<shared_semaphore, semaphore::permit> own) -> task<> {
      co_await skua::yield();
      own->release();
    };
    auto other = skua::spawn(ends(std::move(*held)));
    EXPECT_TRUE(co_await skua::acquire_owned(limit)) << "it came back";
    co_await std::move(other);
    limit->close();
    EXPECT_EQ((co_await skua::acquire_owned(limit)).error(), skua::errc::closed);
    EXPECT_EQ(limit.use_count(), 1);
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> locks(shared_mutex lock) {
  (void)co_await skua::lock_owned(std::move(lock));
}

TEST_P(sync_owned, a_stopped_waiter_lets_go) {
  auto rt = start();
  auto body = []() -> task<> {
    auto lock = std::make_shared<mutex>();
    auto held = co_await skua::lock_owned(lock);
    auto waits = spawn_local(locks(lock));
    co_await skua::yield();
    EXPECT_EQ(lock.use_count(), 3);
    waits.abort();
    EXPECT_TRUE((co_await waits.outcome()).stopped());
    EXPECT_EQ(lock.use_count(), 2);
    auto wait = [&] { return skua::lock_owned(lock); };
    auto grant = [&] { held = {}; };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_EQ(lock.use_count(), 1);
    EXPECT_TRUE(lock->try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

// The guard that waits, or that is granted and never taken, may be all that keeps the mutex.
TEST(owned_stress, the_last_to_hold_it_ends_it) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    auto lock = std::make_shared<mutex>();
    auto limit = std::make_shared<semaphore>(2U);
    const std::weak_ptr<mutex> watch_lock = lock;
    const std::weak_ptr<semaphore> watch_limit = limit;
    auto uses = [](shared_mutex with, shared_semaphore of, skua::random_generator own) -> task<> {
      if (own.below(3) == 0) co_await skua::race(skua::lock_owned(with), skua::yield());
      auto held = co_await skua::lock_owned(std::move(with));
      if (own.below(2) == 0) held->unlock();
      (void)co_await skua::acquire_owned(std::move(of), 1 + own.below(2));
    };
    std::size_t left = 30;
    auto make = [&](skua::random_generator own) {
      auto one = uses(lock, limit, own);
      if (--left == 0) {
        lock.reset();
        limit.reset();
      }
      return one;
    };
    rt.block_on(skua_test::crowd(30, 3, make, random.split()));
    EXPECT_TRUE(watch_lock.expired());
    EXPECT_TRUE(watch_limit.expired());
  });
}

}  // namespace
