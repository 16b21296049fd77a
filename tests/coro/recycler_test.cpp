// tests/coro/recycler_test.cpp: freed frames are used again, within bounds, and none is lost.
#include "skua/coro/recycler.hpp"

#include "skua/base/random.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace {

using skua::allocate_frame;
using skua::frame_size_step;
using skua::free_frame;
using skua::largest_recycled_frame;
using skua::recycled_bytes_per_class;
using skua::recycled_frame_bytes;

// A process with a sanitizer in it keeps nothing.
constexpr bool recycles = !skua::built_with_asan && !skua::built_with_tsan;

/// Each test takes a thread of its own, whose lists are empty at first.
template <typename Body>
void on_new_thread(Body body) {
  std::thread(body).join();
}

std::vector<void*> take(std::size_t count, std::size_t size) {
  std::vector<void*> frames(count);
  for (void*& frame : frames) frame = allocate_frame(size);
  return frames;
}
void give(const std::vector<void*>& frames, std::size_t size) {
  for (void* frame : frames) free_frame(frame, size);
}

TEST(recycler, gives_a_freed_frame_to_the_same_thread_again) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    void* const first = allocate_frame(200);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
    free_frame(first, 200);
    EXPECT_EQ(recycled_frame_bytes(), 256U);
    void* const second = allocate_frame(200);
    EXPECT_EQ(second, first);
    EXPECT_EQ(recycled_frame_bytes(), 0U);  // from the list, and not from malloc by chance
    free_frame(second, 200);
  });
}

TEST(recycler, keeps_nothing_under_a_sanitizer) {
  if constexpr (recycles) GTEST_SKIP() << "no sanitizer is in";
  on_new_thread([] {
    give(take(10, 100), 100);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
  });
}

TEST(recycler, keeps_the_frames_of_tasks) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    auto child = []() -> skua::task<int> { co_return 1; };
    auto parent = [&]() -> skua::task<int> {
      int sum = 0;
      for (int i = 0; i < 100; ++i) sum += co_await child();
      co_return sum;
    };
    EXPECT_EQ(skua::sync_wait(parent()), 100);
    const std::size_t of_two_frames = recycled_frame_bytes();
    EXPECT_GT(of_two_frames, 0U);
    EXPECT_EQ(skua::sync_wait(parent()), 100);
    EXPECT_EQ(recycled_frame_bytes(), of_two_frames);
  });
}

TEST(recycler, shares_a_frame_between_the_sizes_of_one_class) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    void* const small = allocate_frame(129);
    free_frame(small, 129);
    EXPECT_EQ(recycled_frame_bytes(), 192U);
    void* const below = allocate_frame(128);
    void* const above = allocate_frame(193);
    EXPECT_EQ(recycled_frame_bytes(), 192U) << "other classes leave it alone";
    EXPECT_EQ(allocate_frame(192), small);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
    free_frame(small, 192);
    free_frame(below, 128);
    free_frame(above, 193);
    EXPECT_EQ(recycled_frame_bytes(), 192U + 128U + 256U);
  });
}

TEST(recycler, does_not_keep_large_frames) {
  on_new_thread([] {
    give(take(3, largest_recycled_frame + 1), largest_recycled_frame + 1);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
    give(take(3, largest_recycled_frame), largest_recycled_frame);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? 3 * largest_recycled_frame : 0);
  });
}

TEST(recycler, gives_memory_that_is_usable_to_the_last_byte_and_aligned) {
  on_new_thread([] {
    for (int round = 0; round < 2; ++round) {  // from malloc, then from the lists
      std::vector<void*> frames;
      for (std::size_t size = 0; size <= largest_recycled_frame + 70; ++size) {
        frames.push_back(allocate_frame(size));
        ASSERT_NE(frames.back(), nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frames.back()) % (2 * sizeof(void*)), 0U);
        std::memset(frames.back(), static_cast<int>(size % 251), size);
      }
      for (std::size_t size = 0; size < frames.size(); ++size) {
        const auto* bytes = static_cast<const unsigned char*>(frames[size]);
        const bool intact =
            std::all_of(bytes, bytes + size, [&](unsigned char b) { return b == size % 251; });
        EXPECT_TRUE(intact) << size;
        free_frame(frames[size], size);
      }
    }
  });
}

TEST(recycler, keeps_no_more_than_its_bound_of_a_million_frames) {
  on_new_thread([] {
    give(take(1'000'000, 64), 64);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? recycled_bytes_per_class : 0);
  });
}

TEST(recycler, keeps_to_its_bound_in_every_class_whatever_the_order) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    constexpr std::size_t classes = largest_recycled_frame / frame_size_step;
    struct in_class {
      std::vector<void*> taken;
      std::size_t kept = 0;
    };
    std::vector<in_class> model(classes + 1);
    std::size_t expected = 0;
    skua::random_generator pick(7);
    // Runs of one kind, so that lists come to be full and empty.
    for (int run = 0; run < 2'000; ++run) {
      const std::size_t nth = 1 + pick.below(classes);
      const std::size_t bytes = nth * frame_size_step;
      in_class& one = model[nth];
      const bool frees = pick.below(2) == 0;
      for (std::uint64_t i = pick.below(1'000); i > 0; --i) {
        const std::size_t size = bytes - pick.below(frame_size_step);
        if (!frees) {
          one.taken.push_back(allocate_frame(size));
          if (one.kept > 0) --one.kept, expected -= bytes;
        } else if (!one.taken.empty()) {
          free_frame(one.taken.back(), size);
          one.taken.pop_back();
          if (one.kept < recycled_bytes_per_class / bytes) ++one.kept, expected += bytes;
        }
      }
      ASSERT_EQ(recycled_frame_bytes(), expected) << "run " << run;
    }
    for (std::size_t nth = 1; nth <= classes; ++nth) give(model[nth].taken, nth * frame_size_step);
  });
}

TEST(recycler, keeps_a_frame_where_it_was_freed_not_where_it_was_taken) {
  on_new_thread([] {
    const auto frames = take(100, 300);
    on_new_thread([&] {
      give(frames, 300);
      EXPECT_EQ(recycled_frame_bytes(), recycles ? 100U * 320U : 0U);
    });
    EXPECT_EQ(recycled_frame_bytes(), 0U);
  });
}

TEST(recycler, takes_frames_of_a_thread_that_has_ended) {
  std::vector<void*> frames;
  on_new_thread([&] {
    give(take(10, 500), 500);  // some of the frames come from that thread's lists
    frames = take(100, 500);
  });
  on_new_thread([&] {
    give(frames, 500);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? 100U * 512U : 0U);
  });
}

TEST(recycler, lets_threads_exchange_frames) {
  constexpr std::size_t size = 192;
  constexpr int rounds = recycles ? 100'000 : 10'000;
  std::array<std::atomic<unsigned char*>, 16> slots{};
  auto exchange = [&](unsigned char own) {
    skua::random_generator pick(own);
    for (int i = 0; i < rounds; ++i) {
      auto* mine = static_cast<unsigned char*>(allocate_frame(size));
      std::memset(mine, own, size);
      unsigned char* theirs = slots[pick.below(slots.size())].exchange(mine);
      if (theirs == nullptr) continue;
      ASSERT_TRUE(std::all_of(theirs, theirs + size, [&](auto b) { return b == *theirs; }));
      free_frame(theirs, size);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned char i = 1; i <= 4; ++i) threads.emplace_back(exchange, i);
  for (std::thread& one : threads) one.join();
  for (auto& slot : slots) {
    if (slot != nullptr) free_frame(slot, size);
  }
}

TEST(recycler, gives_everything_back_when_a_thread_ends) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in, and has its own malloc";
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  constexpr std::size_t threads = 64;
  for (std::size_t i = 0; i < threads; ++i) {
    on_new_thread([] {
      for (std::size_t size = frame_size_step; size <= largest_recycled_frame; size += 64)
        give(take(recycled_bytes_per_class / size, size), size);
      EXPECT_GT(recycled_frame_bytes(), 30 * (recycled_bytes_per_class - largest_recycled_frame));
    });
  }
  const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_LT(after, before + 2 * recycled_bytes_per_class);
}

/// Frees a frame in its destructor, and looks at what the lists do then.
struct frees_at_its_end {
  void* frame = nullptr;
  std::size_t* kept = nullptr;
  frees_at_its_end() = default;
  frees_at_its_end(const frees_at_its_end&) = delete;
  frees_at_its_end& operator=(const frees_at_its_end&) = delete;
  ~frees_at_its_end() {
    if (kept == nullptr) return;
    free_frame(frame, 100);
    *kept = recycled_frame_bytes();
    give(take(10, 700), 700);
  }
};
thread_local frees_at_its_end late;

TEST(recycler, takes_frames_from_thread_local_destructors_after_its_own_end) {
  std::size_t kept = 99;
  on_new_thread([&] {
    late.kept = &kept;  // constructed before the lists open, so destroyed after they close
    late.frame = allocate_frame(100);
    give(take(10, 100), 100);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? 10U * 128U : 0U);
  });
  EXPECT_EQ(kept, 0U);
}

TEST(recycler, takes_frames_from_thread_local_destructors_before_its_own_end) {
  std::size_t kept = 99;
  on_new_thread([&] {
    give(take(10, 100), 100);
    late.kept = &kept;
    late.frame = allocate_frame(100);
  });
  EXPECT_EQ(kept, recycles ? 10U * 128U : 0U);
}

TEST(recycler, may_open_its_lists_in_a_thread_local_destructor) {
  std::size_t kept = 99;
  on_new_thread([&] {
    late.kept = &kept;
    late.frame = allocate_frame(100);
  });
  EXPECT_EQ(kept, recycles ? 128U : 0U);
}

/// Ends the process with code 0 only if its static object could free its frame.
struct frees_at_exit {
  void* frame = allocate_frame(100);
  frees_at_exit() = default;
  frees_at_exit(const frees_at_exit&) = delete;
  frees_at_exit& operator=(const frees_at_exit&) = delete;
  ~frees_at_exit() {
    free_frame(frame, 100);
    give(take(100, 100), 100);
    give(take(100, 5000), 5000);
    std::_Exit(recycled_frame_bytes() <= recycled_bytes_per_class ? 0 : 1);
  }
};
[[noreturn]] void exit_with_a_static_object() {
  static frees_at_exit at_exit;
  std::exit(2);
}

TEST(recycler, takes_frames_during_static_destruction) {
  auto lists_were_open = [] {
    give(take(10, 100), 100);
    exit_with_a_static_object();
  };
  auto first_use_ever = [] {
    std::thread(exit_with_a_static_object).join();  // a thread without lists runs the destructors
  };
  EXPECT_EXIT(lists_were_open(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(first_use_ever(), testing::ExitedWithCode(0), "");
}

TEST(recycler, can_be_switched_off) {
  auto switch_off = [] {
    give(take(10, 100), 100);
    const std::size_t before = recycled_frame_bytes();
    skua::switch_off_frame_recycling();
    bool right = before == (recycles ? 10U * 128U : 0U) && recycled_frame_bytes() == 0;
    give(take(10, 100), 100);
    right = right && recycled_frame_bytes() == 0;
    on_new_thread([&] {
      give(take(10, 100), 100);
      right = right && recycled_frame_bytes() == 0;
    });
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(on_new_thread(switch_off), testing::ExitedWithCode(0), "");
}

TEST(recycler, throws_when_memory_is_out) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer ends the process instead";
  EXPECT_THROW((void)allocate_frame(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
}

}  // namespace
