// tests/runtime/frame_store_test.cpp: what becomes of frames that a runtime's threads freed.
#include "skua/base/sanitizer.hpp"
#include "skua/coro/recycler.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawn.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace {

skua::task<int> number(int n) {
  co_return n;
}

skua::task<int> many_at_once(int count) {
  std::vector<skua::join_handle<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(skua::spawn(number(1)));
  int sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  co_return sum;
}

TEST(frame_store, has_what_many_tasks_left_until_the_runtime_ends) {
  if constexpr (skua::built_with_asan || skua::built_with_tsan) GTEST_SKIP() << "nothing is kept";
  {
    // One worker: with more, others may end them as fast as they are spawned, and few are left.
    auto built = skua::runtime::builder().workers(1).build();
    ASSERT_TRUE(built);
    skua::runtime here = std::move(*built);
    EXPECT_EQ(here.block_on(many_at_once(20'000)), 20'000);
    EXPECT_GT(skua::stored_frame_bytes(), 0U);
    EXPECT_LE(skua::stored_frame_bytes(), skua::stored_frame_bytes_max);
  }
  EXPECT_EQ(skua::stored_frame_bytes(), 0U);
}

void take_and_give(int count, std::size_t size) {
  std::vector<void*> all;
  for (int i = 0; i < count; ++i) all.push_back(skua::allocate_frame(size));
  for (void* const one : all) skua::free_frame(one, size);
}

// Rings of channels are of the largest class.
TEST(frame_store, keeps_room_for_frames_whatever_the_largest_class_leaves) {
  if constexpr (skua::built_with_asan || skua::built_with_tsan) GTEST_SKIP() << "nothing is kept";
  constexpr std::size_t part = skua::stored_frame_bytes_max / 8;
  {
    auto built = skua::runtime::builder().workers(1).build();  // its end empties the store
    ASSERT_TRUE(built);
    take_and_give(40'000, skua::largest_recycled_frame);
    const std::size_t largest = skua::stored_frame_bytes();
    EXPECT_GT(largest, part / 2);
    EXPECT_LE(largest, part);
    take_and_give(400'000, 280);
    EXPECT_GT(skua::stored_frame_bytes(), largest + part);
  }
  EXPECT_EQ(skua::stored_frame_bytes(), 0U);
}

}  // namespace
