// tests/coro/recycler_test.cpp: freed frames are used again, within bounds, and none is lost.
#include "skua/coro/recycler.hpp"

#include "coro/frame_store.hpp"
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
#include <set>
#include <thread>
#include <vector>

namespace {

using skua::allocate_frame;
using skua::frame_classes;
using skua::free_frame;
using skua::largest_recycled_frame;
using skua::recycled_bytes_per_class;
using skua::recycled_frame_bytes;
using skua::stored_frame_bytes;
using skua::stored_frame_bytes_max;

// A process with a sanitizer in it keeps nothing.
constexpr bool recycles = !skua::built_with_asan && !skua::built_with_tsan;

/// Each test takes a thread of its own, whose lists are empty at first.
template <typename Body>
void on_new_thread(Body body) {
  std::thread(body).join();
}

/// With an empty store.
class recycler : public testing::Test {
protected:
  recycler() { skua::frame_store::free_all(); }
};

std::vector<void*> take(std::size_t count, std::size_t size) {
  std::vector<void*> frames(count);
  for (void*& frame : frames) frame = allocate_frame(size);
  return frames;
}
void give(const std::vector<void*>& frames, std::size_t size) {
  for (void* frame : frames) free_frame(frame, size);
}

TEST_F(recycler, gives_a_freed_frame_to_the_same_thread_again) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    void* const first = allocate_frame(200);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
    free_frame(first, 200);
    EXPECT_EQ(recycled_frame_bytes(), 216U);
    void* const second = allocate_frame(200);
    EXPECT_EQ(second, first);
    EXPECT_EQ(recycled_frame_bytes(), 0U);  // from the list, and not from malloc by chance
    free_frame(second, 200);
  });
}

TEST_F(recycler, keeps_nothing_under_a_sanitizer) {
  if constexpr (recycles) GTEST_SKIP() << "no sanitizer is in";
  on_new_thread([] {
    give(take(10, 100), 100);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
  });
}

TEST_F(recycler, keeps_the_frames_of_tasks) {
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

TEST_F(recycler, shares_a_frame_between_the_sizes_of_one_class) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    void* const small = allocate_frame(121);
    free_frame(small, 121);
    EXPECT_EQ(recycled_frame_bytes(), 152U);
    void* const below = allocate_frame(120);
    void* const above = allocate_frame(153);
    EXPECT_EQ(recycled_frame_bytes(), 152U) << "other classes leave it alone";
    EXPECT_EQ(allocate_frame(152), small);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
    free_frame(small, 152);
    free_frame(below, 120);
    free_frame(above, 153);
    EXPECT_EQ(recycled_frame_bytes(), 152U + 120U + 184U);
  });
}

TEST_F(recycler, does_not_keep_large_frames) {
  on_new_thread([] {
    give(take(3, largest_recycled_frame + 1), largest_recycled_frame + 1);
    EXPECT_EQ(recycled_frame_bytes(), 0U);
    give(take(3, largest_recycled_frame), largest_recycled_frame);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? 3 * largest_recycled_frame : 0);
  });
}

TEST_F(recycler, gives_memory_that_is_usable_to_the_last_byte_and_aligned) {
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

TEST_F(recycler, has_classes_that_waste_little) {
  for (std::size_t size = 0; size <= largest_recycled_frame; ++size) {
    const std::size_t has = frame_classes::size(frame_classes::of(size));
    ASSERT_GE(has, size);
    ASSERT_LT(has, size + (size <= 504 ? 32 : 128));
    ASSERT_EQ(frame_classes::of(has), frame_classes::of(size));
    ASSERT_EQ((has + sizeof(void*)) % 16, 0U) << "what malloc has to give in any case";
  }
}

TEST_F(recycler, keeps_no_more_than_its_bounds_of_a_million_frames) {
  on_new_thread([] {
    give(take(1'000'000, 280), 280);
    EXPECT_LE(recycled_frame_bytes(), recycled_bytes_per_class);
    EXPECT_LE(stored_frame_bytes(), stored_frame_bytes_max);
    if constexpr (recycles) {
      EXPECT_GT(stored_frame_bytes(), stored_frame_bytes_max / 2);
    }
  });
}

TEST_F(recycler, brings_frames_from_a_thread_that_frees_to_one_that_allocates) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  constexpr std::size_t size = 408;  // a class that no other test fills
  on_new_thread([&] {
    std::vector<void*> frames = take(10'000, size);
    on_new_thread([&] { give(frames, size); });
    std::ranges::sort(frames);
    const std::size_t stored = stored_frame_bytes();
    EXPECT_GT(stored, 0U);
    void* const again = allocate_frame(size);
    EXPECT_TRUE(std::ranges::binary_search(frames, again));
    const std::size_t left = stored_frame_bytes();
    EXPECT_LT(left, stored) << "a batch has come";
    EXPECT_EQ(recycled_frame_bytes(), stored - left - size) << "and all but one is in the list";
    free_frame(again, size);
  });
}

TEST_F(recycler, keeps_to_its_bound_in_every_class_whatever_the_order) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in";
  on_new_thread([] {
    constexpr std::size_t classes = frame_classes::of(largest_recycled_frame);
    std::vector<std::vector<void*>> taken(classes + 1);
    std::set<void*> distinct;
    skua::random_generator pick(7);
    // Runs of one kind, so that lists come to be full and empty, and the store, too.
    for (int run = 0; run < 2'000; ++run) {
      const std::size_t nth = 1 + pick.below(classes);
      const std::size_t bytes = frame_classes::size(nth);
      std::vector<void*>& out = taken[nth];
      const bool frees = pick.below(2) == 0;
      for (std::uint64_t i = pick.below(1'000); i > 0; --i) {
        const std::size_t size = bytes - pick.below(24);
        if (!frees) {
          out.push_back(allocate_frame(size));
          std::memset(out.back(), 0xff, size);
          ASSERT_TRUE(distinct.insert(out.back()).second) << "given twice, in run " << run;
        } else if (!out.empty()) {
          free_frame(out.back(), size);
          distinct.erase(out.back());
          out.pop_back();
        }
      }
      ASSERT_LE(recycled_frame_bytes(), classes * recycled_bytes_per_class) << "run " << run;
    }
    for (std::size_t nth = 1; nth <= classes; ++nth) give(taken[nth], frame_classes::size(nth));
  });
}

TEST_F(recycler, keeps_a_frame_where_it_was_freed_not_where_it_was_taken) {
  on_new_thread([] {
    const auto frames = take(100, 300);
    on_new_thread([&] {
      give(frames, 300);
      EXPECT_EQ(recycled_frame_bytes(), recycles ? 100U * 312U : 0U);
    });
    EXPECT_EQ(recycled_frame_bytes(), 0U);
  });
}

TEST_F(recycler, takes_frames_of_a_thread_that_has_ended) {
  std::vector<void*> frames;
  on_new_thread([&] {
    give(take(10, 500), 500);  // some of the frames come from that thread's lists
    frames = take(100, 500);
  });
  on_new_thread([&] {
    give(frames, 500);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? 100U * 504U : 0U);
  });
}

TEST_F(recycler, lets_threads_exchange_frames) {
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

TEST_F(recycler, gives_everything_back_when_a_thread_ends) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer is in, and has its own malloc";
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  constexpr std::size_t threads = 64;
  for (std::size_t i = 0; i < threads; ++i) {
    on_new_thread([] {
      constexpr std::size_t classes = frame_classes::of(largest_recycled_frame);
      for (std::size_t nth = 1; nth <= classes; ++nth) {
        const std::size_t size = frame_classes::size(nth);
        give(take(recycled_bytes_per_class / size, size), size);
      }
      EXPECT_GT(recycled_frame_bytes(), 25 * (recycled_bytes_per_class - largest_recycled_frame));
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

TEST_F(recycler, takes_frames_from_thread_local_destructors_after_its_own_end) {
  std::size_t kept = 99;
  on_new_thread([&] {
    late.kept = &kept;  // constructed before the lists open, so destroyed after they close
    late.frame = allocate_frame(100);
    give(take(10, 100), 100);
    EXPECT_EQ(recycled_frame_bytes(), recycles ? 10U * 120U : 0U);
  });
  EXPECT_EQ(kept, 0U);
}

TEST_F(recycler, takes_frames_from_thread_local_destructors_before_its_own_end) {
  std::size_t kept = 99;
  on_new_thread([&] {
    give(take(10, 100), 100);
    late.kept = &kept;
    late.frame = allocate_frame(100);
  });
  EXPECT_EQ(kept, recycles ? 10U * 120U : 0U);
}

TEST_F(recycler, may_open_its_lists_in_a_thread_local_destructor) {
  std::size_t kept = 99;
  void* const from_elsewhere = allocate_frame(100);
  on_new_thread([&] {
    late.kept = &kept;
    late.frame = from_elsewhere;
  });
  EXPECT_EQ(kept, recycles ? 120U : 0U);
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

TEST_F(recycler, takes_frames_during_static_destruction) {
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

TEST_F(recycler, can_be_switched_off) {
  auto switch_off = [] {
    give(take(10, 100), 100);
    const std::size_t before = recycled_frame_bytes();
    skua::switch_off_frame_recycling();
    bool right = before == (recycles ? 10U * 120U : 0U) && recycled_frame_bytes() == 0;
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

TEST_F(recycler, throws_when_memory_is_out) {
  if constexpr (!recycles) GTEST_SKIP() << "a sanitizer ends the process instead";
  EXPECT_THROW((void)allocate_frame(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
}

}  // namespace
