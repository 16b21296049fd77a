// tests/runtime/offload_test.cpp: work that blocks goes to the pool, and has its turn there.
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/worker.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/skua.hpp"
#include "support/long_call.hpp"
#include "support/started.hpp"
#include "support/thread_limit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace {

using skua::spawn;
using skua::spawn_blocking;
using skua::task;
using skua_test::kind;
using skua_test::started;

/// `co_await offloaded(where)` gives the thread that the executor's offload() chose.
class offloaded final : public skua::leaf {
public:
  explicit offloaded(skua::executor& where) noexcept : where_(where) {}
  std::thread::id await_resume() const noexcept { return item_.ran_on; }

private:
  struct item : skua::work {
    explicit item(offloaded& whose) noexcept : work(run_here), of(whose) {}
    static void run_here(work& self) noexcept {
      auto& mine = static_cast<item&>(self);
      mine.ran_on = std::this_thread::get_id();
      mine.of.complete();
    }
    offloaded& of;
    std::thread::id ran_on;
  };

  void start() noexcept override { where_.offload(item_); }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }

  skua::executor& where_;
  item item_{*this};
};

class offload : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, offload, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(offload, runs_work_on_a_thread_of_the_pool) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    skua::core& here = *skua::current().runtime;
    const auto blocking = [] { return std::this_thread::get_id(); };
    const auto pools = co_await spawn_blocking(blocking);
    while (here.pool().look().idle == 0) co_await skua::yield();
    EXPECT_EQ(co_await offloaded(here), pools);
    while (here.pool().look().idle == 0) co_await skua::yield();
    EXPECT_EQ(co_await offloaded(skua::current().as->pinned()), pools);
  };
  rt.block_on(body());
}

void keep(void* state, const skua::log_record& record) {
  *static_cast<std::string*>(state) += record.message;
}

TEST_P(offload, has_a_worker_do_it_if_no_thread_can_be_had) {
  std::string said;
  skua::config with = GetParam().settings();
  with.log = skua::logger(keep, &said);
  auto rt = started(with);
  auto body = []() -> task<> {
    skua::core& here = *skua::current().runtime;
    const skua_test::thread_limit no_more(1);
    static_cast<void>(co_await offloaded(here));
    EXPECT_TRUE(no_more.reached());
    EXPECT_EQ(here.pool().look().threads, 0U);
  };
  rt.block_on(body());
  EXPECT_THAT(said, testing::HasSubstr("no thread can be had"));
}

task<> keeps_calling(const std::atomic<bool>& over, std::atomic<int>& calls) {
  auto call = [](std::atomic<int>& count) { ++count; };
  while (!over && calls < 2'000) co_await spawn_blocking(call, std::ref(calls));
}

/// As offloaded, but gives how many calls had been made when it ran.
class counts_calls final : public skua::leaf {
public:
  counts_calls(skua::executor& where, const std::atomic<int>& calls) noexcept
      : where_(where), item_(*this, calls) {}
  int await_resume() const noexcept { return item_.seen; }

private:
  struct item : skua::work {
    item(counts_calls& whose, const std::atomic<int>& all) noexcept
        : work(run_here), of(whose), calls(all) {}
    static void run_here(work& self) noexcept {
      auto& mine = static_cast<item&>(self);
      mine.seen = mine.calls;
      mine.of.complete();
    }
    counts_calls& of;
    const std::atomic<int>& calls;
    int seen = 0;
  };

  void start() noexcept override { where_.offload(item_); }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }

  skua::executor& where_;
  item item_;
};

// The only thread is held until the item is queued, behind the calls: nothing depends on who has a
// processor in the meantime.
TEST_P(offload, has_its_turn_while_blocking_calls_keep_coming) {
  skua::config with = GetParam().settings();
  with.blocking_threads = 1;
  auto rt = started(with);
  constexpr std::size_t callers = 20;
  std::atomic<bool> over = false;
  std::atomic<int> calls = 0;
  auto body = [&]() -> task<> {
    skua::core& here = *skua::current().runtime;
    skua_test::long_call holds;
    auto holder = spawn(holds.run());
    while (!holds.begun) co_await skua::yield();
    for (std::size_t i = 0; i < callers; ++i) spawn(keeps_calling(over, calls));
    while (here.pool().look().waiting < callers) co_await skua::yield();
    auto item = [](skua::core& at, std::atomic<int>& made, std::atomic<bool>& end) -> task<int> {
      const int seen = co_await counts_calls(at, made);
      end = true;
      co_return seen;
    };
    auto offloads = spawn(item(here, calls, over));
    while (here.pool().look().waiting < callers + 1) co_await skua::yield();
    holds.may_end.release();
    EXPECT_LT(co_await std::move(offloads), 1'000);
    co_await std::move(holder);
  };
  rt.block_on(body());
}

}  // namespace
