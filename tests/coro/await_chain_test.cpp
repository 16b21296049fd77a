// tests/coro/await_chain_test.cpp: a suspended context shows who awaits whom.
#include "skua/coro/await_chain.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/own_frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <coroutine>
#include <set>
#include <vector>

namespace {

using skua::await_frame;
using skua::task;
using skua::walk_await_chain;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;
using skua_test::own_frame;

/// Where the frames of a test lie, outermost first, and what the innermost waits for.
struct scene {
  gate at;
  std::vector<const void*> frames;
};

task<int> inner(scene& all) {
  co_await own_frame(all.frames);
  co_return co_await gate::wait(all.at);
}
task<int> middle(scene& all) {
  co_await own_frame(all.frames);
  const int value = co_await inner(all);
  co_return value + 1;
}
task<int> outer(scene& all) {
  co_await own_frame(all.frames);
  const int value = co_await middle(all);
  co_return value + 1;
}
task<int> nest(scene& all, int depth) {
  co_await own_frame(all.frames);
  if (depth > 0) co_return co_await nest(all, depth - 1);
  co_return co_await gate::wait(all.at);
}

std::vector<await_frame> chain_of(const skua::context_base& suspended) {
  std::vector<await_frame> chain(walk_await_chain(suspended, nullptr, 0));
  EXPECT_EQ(walk_await_chain(suspended, chain.data(), chain.size()), chain.size());
  return chain;
}

TEST(await_chain, gives_the_frames_innermost_first) {
  manual_executor here;
  scene all;
  driven<int> whole(here, outer(all));
  here.run_ready();
  const auto chain = chain_of(whole);
  ASSERT_EQ(chain.size(), 3U);
  ASSERT_EQ(all.frames.size(), 3U);
  EXPECT_EQ(chain[0].frame, all.frames[2]);
  EXPECT_EQ(chain[1].frame, all.frames[1]);
  EXPECT_EQ(chain[2].frame, all.frames[0]);
  EXPECT_EQ(chain[2].frame, whole.root().address());
  all.at.open(1);
  here.run_ready();
  EXPECT_EQ(*whole.result(), 3);
}

TEST(await_chain, names_each_coroutine_by_its_resume_function) {
  manual_executor here;
  scene all;
  scene others;
  driven<int> whole(here, outer(all));
  driven<int> second(here, outer(others));
  here.run_ready();
  const auto chain = chain_of(whole);
  const auto same_code = chain_of(second);
  std::set<const void*> functions;
  for (const await_frame& one : chain) functions.insert(one.resume_function);
  EXPECT_EQ(functions.size(), 3U);
  EXPECT_FALSE(functions.contains(nullptr));
  ASSERT_EQ(same_code.size(), chain.size());
  for (std::size_t i = 0; i < chain.size(); ++i) {
    EXPECT_EQ(same_code[i].resume_function, chain[i].resume_function);
    EXPECT_NE(same_code[i].frame, chain[i].frame);
  }
  all.at.open();
  others.at.open();
  here.run_ready();
}

TEST(await_chain, counts_what_there_is_no_room_for) {
  manual_executor here;
  scene all;
  driven<int> whole(here, nest(all, 99));
  here.run_ready();
  std::array<await_frame, 4> some{};
  EXPECT_EQ(walk_await_chain(whole, some.data(), 3), 100U);
  EXPECT_EQ(some[0].frame, all.frames[99]);
  EXPECT_EQ(some[2].frame, all.frames[97]);
  EXPECT_EQ(some[3].frame, nullptr) << "written beyond the room";
  EXPECT_EQ(walk_await_chain(whole, nullptr, 0), 100U);
  all.at.open();
  here.run_ready();
}

TEST(await_chain, is_the_root_alone_before_it_has_started) {
  manual_executor here;
  scene all;
  driven<int> whole(here, outer(all));
  const auto chain = chain_of(whole);
  ASSERT_EQ(chain.size(), 1U);
  EXPECT_EQ(chain[0].frame, whole.root().address());
  here.run_ready();
  all.at.open();
  here.run_ready();
}

TEST(await_chain, gets_shorter_when_a_child_has_returned) {
  manual_executor here;
  scene all;
  auto twice = [&]() -> task<int> {
    const int first = co_await middle(all);
    co_return first + co_await gate::wait(all.at);
  };
  driven<int> whole(here, twice());
  here.run_ready();
  EXPECT_EQ(chain_of(whole).size(), 3U);
  all.at.open();
  here.run_ready();
  const auto chain = chain_of(whole);
  ASSERT_EQ(chain.size(), 1U);
  EXPECT_EQ(chain[0].frame, whole.root().address());
  all.at.open();
  here.run_ready();
  EXPECT_TRUE(whole.ended());
}

TEST(await_chain, goes_through_generators) {
  manual_executor here;
  scene all;
  auto numbers = [&]() -> skua::async_generator<int> {
    co_await own_frame(all.frames);
    for (;;) {
      const int value = co_await inner(all);
      co_yield value;
    }
  };
  auto consume = [&]() -> task<> {
    co_await own_frame(all.frames);
    auto from = numbers();
    (void)co_await from.next();
    (void)co_await from.next();
  };
  driven<void> whole(here, consume());
  for (int i = 0; i < 2; ++i) {
    here.run_ready();
    const auto chain = chain_of(whole);
    ASSERT_EQ(chain.size(), 3U);
    EXPECT_EQ(chain[0].frame, all.frames.back());
    EXPECT_EQ(chain[1].frame, all.frames[1]);
    EXPECT_EQ(chain[2].frame, all.frames[0]);
    all.at.open(i);
  }
  here.run_ready();
  EXPECT_TRUE(whole.ended());
}

TEST(await_chain, goes_through_as_outcome_and_shielded) {
  manual_executor here;
  scene all;
  auto guarded = [&]() -> task<int> {
    co_await own_frame(all.frames);
    auto how = co_await skua::as_outcome(skua::shielded(middle(all)));
    co_return *how;
  };
  driven<int> whole(here, guarded());
  here.run_ready();
  const auto chain = chain_of(whole);
  ASSERT_EQ(chain.size(), 4U);  // the shield has a frame of its own, as_outcome has none
  EXPECT_EQ(chain[0].frame, all.frames[2]);
  EXPECT_EQ(chain[1].frame, all.frames[1]);
  EXPECT_EQ(chain[3].frame, all.frames[0]);
  all.at.open(5);
  here.run_ready();
  EXPECT_EQ(*whole.result(), 6);
}

}  // namespace
