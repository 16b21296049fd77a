// tests/sync/allocation_test.cpp: who waits brings its own place to wait: nothing is allocated.
#include "skua/skua.hpp"
#include "support/memory_limit.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::task;

/// A wait for something, and what ends it.
struct scene {
  const char* name;
  std::function<task<>()> waits;
  std::function<void()> ends_it;
  std::function<void()> prepare = [] {};
  /// What the event itself takes: the copy of a message that several receivers share, say.
  std::size_t of_its_own = 0;
};

task<> once(const scene& of) {
  auto waiting = skua::spawn(of.waits());
  for (int i = 0; i < 3; ++i) co_await skua::yield();  // it waits, and so does what it has spawned
  of.ends_it();
  co_await std::move(waiting);
}

task<bool> allocates(const scene& of) {
  for (int i = 0; i < 3; ++i) {  // frames and cells are there afterwards
    of.prepare();
    co_await once(of);
  }
  of.prepare();
  const skua_test::memory_limit limit(of.of_its_own + 1);
  co_await once(of);
  co_return limit.reached();
}

/// What the scenes are about: each is made once, and used by one scene.
template <typename T, typename... Args>
T& kept(std::vector<std::shared_ptr<void>>& all, Args&&... args) {
  auto made = std::make_shared<T>(std::forward<Args>(args)...);
  all.push_back(made);
  return *made;
}

template <typename Pair>
Pair& kept_channel(std::vector<std::shared_ptr<void>>& all, Pair made) {
  return kept<Pair>(all, std::move(made));
}

using keep = std::vector<std::shared_ptr<void>>;

void add_locks(std::vector<scene>& to, keep& all) {
  auto& lock = kept<skua::mutex>(all);
  auto& held = kept<skua::mutex::guard>(all);
  to.push_back({.name = "mutex",
                .waits = [&]() -> task<> { const auto mine = co_await lock.lock(); },
                .ends_it = [&] { held.unlock(); },
                .prepare = [&] { held = lock.try_lock(); }});
  auto& data = kept<skua::guarded<int>>(all, 1);
  auto& holds = kept<skua::guarded<int>::guard>(all);
  to.push_back({.name = "guarded",
                .waits = [&]() -> task<> { ++*co_await data.lock(); },
                .ends_it = [&] { holds.unlock(); },
                .prepare = [&] { holds = data.try_lock(); }});
  auto& permits = kept<skua::semaphore>(all, 0U);
  to.push_back({.name = "semaphore",
                .waits = [&]() -> task<> { (*co_await permits.acquire(3)).forget(); },
                .ends_it = [&] { permits.add_permits(3); }});
  auto& shared = kept<skua::rw_lock>(all);
  auto& writes = kept<skua::rw_lock::write_guard>(all);
  to.push_back({.name = "read",
                .waits = [&]() -> task<> { const auto mine = co_await shared.read(); },
                .ends_it = [&] { writes.unlock(); },
                .prepare = [&] { writes = shared.try_write(); }});
  to.push_back({.name = "write",
                .waits = [&]() -> task<> { const auto mine = co_await shared.write(); },
                .ends_it = [&] { writes.unlock(); },
                .prepare = [&] { writes = shared.try_write(); }});
  auto& changed = kept<skua::condition_variable>(all);
  auto& guards = kept<skua::mutex>(all);
  to.push_back({.name = "condition_variable",
                .waits = [&]() -> task<> {
                  auto mine = co_await guards.lock();
                  co_await changed.wait(mine);
                },
                .ends_it = [&] { changed.notify_one(); }});
}

void add_events(std::vector<scene>& to, keep& all) {
  auto& door = kept<skua::event>(all);
  to.push_back({.name = "event",
                .waits = [&]() -> task<> { co_await door.wait(); },
                .ends_it = [&] { door.set(); },
                .prepare = [&] { door.reset(); }});
  auto& once_open = kept<skua::auto_reset_event>(all);
  to.push_back({.name = "auto_reset_event",
                .waits = [&]() -> task<> { co_await once_open.wait(); },
                .ends_it = [&] { once_open.set(); }});
  auto& bell = kept<skua::notify>(all);
  to.push_back({.name = "notify",
                .waits = [&]() -> task<> { co_await bell.wait(); },
                .ends_it = [&] { bell.notify_all(); }});
  auto& group = kept<skua::wait_group>(all);
  to.push_back({.name = "wait_group",
                .waits = [&]() -> task<> { co_await group.wait(); },
                .ends_it = [&] { group.done(); },
                .prepare = [&] { group.add(); }});
  auto& counts = kept<std::vector<std::unique_ptr<skua::latch>>>(all);
  to.push_back({.name = "latch",
                .waits = [&]() -> task<> { co_await counts.back()->wait(); },
                .ends_it = [&] { counts.back()->count_down(); },
                .prepare = [&] { counts.push_back(std::make_unique<skua::latch>(1U)); }});
  auto& meets = kept<skua::barrier>(all, 2U);
  auto& second = kept<skua::event>(all);
  to.push_back({.name = "barrier",
                .waits = [&]() -> task<> {
                  auto other = [](skua::barrier& at, skua::event& go) -> task<> {
                    co_await go.wait();
                    co_await at.arrive_and_wait();
                  };
                  auto both = skua::spawn(other(meets, second));
                  co_await meets.arrive_and_wait();
                  co_await std::move(both);
                },
                .ends_it = [&] { second.set(); },
                .prepare = [&] { second.reset(); }});
  auto& called_off = kept<std::vector<skua::cancel_source>>(all);
  to.push_back({.name = "cancel_token",
                .waits = [&]() -> task<> { co_await called_off.back().token().wait(); },
                .ends_it = [&] { called_off.back().cancel(); },
                .prepare = [&] { called_off.emplace_back(); }});
}

void add_channels(std::vector<scene>& to, keep& all) {
  auto& one_way = kept_channel(all, skua::mpsc::channel<int>(1));
  to.push_back({.name = "mpsc_receive",
                .waits = [&]() -> task<> { (void)co_await one_way.second.receive(); },
                .ends_it = [&] { (void)one_way.first.try_send(1); }});
  auto& full = kept_channel(all, skua::mpsc::channel<int>(1));
  to.push_back({.name = "mpsc_send",
                .waits = [&]() -> task<> { (void)co_await full.first.send(2); },
                .ends_it = [&] { (void)full.second.try_receive(); },
                .prepare = [&] { (void)full.first.try_send(1); }});
  auto& many = kept_channel(all, skua::mpmc::channel<int>(4));
  to.push_back({.name = "mpmc_receive",
                .waits = [&]() -> task<> { (void)co_await many.second.receive(); },
                .ends_it = [&] { (void)many.first.try_send(1); }});
  auto& meeting = kept_channel(all, skua::mpmc::channel<int>(0));
  to.push_back({.name = "rendezvous",
                .waits = [&]() -> task<> { (void)co_await meeting.second.receive(); },
                .ends_it = [&] { (void)meeting.first.try_send(1); }});
  auto& quick = kept_channel(all, skua::spsc::channel<int>(2));
  to.push_back({.name = "spsc",
                .waits = [&]() -> task<> { (void)co_await quick.second.receive(); },
                .ends_it = [&] { (void)quick.first.try_send(1); }});
  using one_message = decltype(skua::oneshot::channel<int>());
  auto& single = kept<std::vector<one_message>>(all);
  to.push_back({.name = "oneshot",
                .waits = [&]() -> task<> { (void)co_await single.back().second.receive(); },
                .ends_it = [&] { (void)std::move(single.back().first).send(1); },
                .prepare = [&] { single.push_back(skua::oneshot::channel<int>()); }});
  auto& radio = kept_channel(all, skua::broadcast::channel<int>(4));
  to.push_back({.name = "broadcast",
                .waits = [&]() -> task<> { (void)co_await radio.second.receive(); },
                .ends_it = [&] { (void)radio.first.send(1); },
                .of_its_own = 1});
  auto& state = kept_channel(all, skua::watch::channel<int>(0));
  to.push_back({.name = "watch",
                .waits = [&]() -> task<> { (void)co_await state.second.changed(); },
                .ends_it = [&] { state.first.send(1); },
                .of_its_own = 1});
}

void add_combinators(std::vector<scene>& to, keep& all) {
  auto& bell = kept<skua::notify>(all);
  to.push_back({.name = "select",
                .waits = [&]() -> task<> {
                  (void)co_await skua::select(bell.wait(), skua::sleep(1h), bell.wait());
                },
                .ends_it = [&] { bell.notify_one(); }});
  to.push_back(
      {.name = "when_all",
       .waits = [&]() -> task<> { (void)co_await skua::when_all(bell.wait(), bell.wait()); },
       .ends_it = [&] { bell.notify_all(); }});
  to.push_back({.name = "timeout",
                .waits = [&]() -> task<> { (void)co_await skua::timeout(1h, bell.wait()); },
                .ends_it = [&] { bell.notify_all(); }});
  to.push_back({.name = "join_handle",
                .waits = [&]() -> task<> {
                  auto child = [](skua::notify& at) -> task<> { co_await at.wait(); };
                  co_await skua::spawn(child(bell));
                },
                .ends_it = [&] { bell.notify_all(); }});
  auto& tick = kept<skua::interval>(all, 1ms);
  to.push_back({.name = "interval",
                .waits = [&]() -> task<> {
                  co_await tick.next();
                  co_await tick.next();
                },
                .ends_it = [] {}});
}

/// The scenes, and what they are about.
struct stage {
  stage() {
    add_locks(scenes, all);
    add_events(scenes, all);
    add_channels(scenes, all);
    add_combinators(scenes, all);
  }
  keep all;
  std::vector<scene> scenes;
};

TEST(waiting, allocates_nothing) {
  stage with;
  for (const scene& one : with.scenes) {
    auto rt = skua_test::started(skua_test::alone.settings());
    EXPECT_FALSE(rt.block_on(allocates(one))) << one.name;
  }
}

/// The test can see an allocation.
TEST(waiting, that_allocates_is_seen) {
  skua::notify bell;
  std::unique_ptr<int> node;  // out here, so that no compiler does without
  const scene lavish = {.name = "lavish",
                        .waits = [&]() -> task<> {
                          node = std::make_unique<int>(1);
                          co_await bell.wait();
                        },
                        .ends_it = [&] { bell.notify_one(); }};
  auto rt = skua_test::started(skua_test::alone.settings());
  EXPECT_THROW((void)rt.block_on(allocates(lavish)), std::bad_alloc);
}

}  // namespace
