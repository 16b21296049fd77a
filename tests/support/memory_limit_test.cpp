// tests/support/memory_limit_test.cpp: exactly the chosen allocation fails.
#include "support/memory_limit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua_test::memory_limit;

// Called as functions, not by new expressions, which a compiler may leave out.

/// Allocates until it fails, at most ten times; how often it did not.
int allocations_made() {
  int made = 0;
  try {
    for (; made < 10; ++made) ::operator delete(::operator new(100));
  } catch (const std::bad_alloc&) {
  }
  return made;
}

TEST(memory_limit, fails_the_chosen_allocation) {
  for (int kth = 1; kth <= 10; ++kth) {
    const memory_limit limit(static_cast<std::size_t>(kth));
    EXPECT_EQ(allocations_made(), kth - 1);
    EXPECT_TRUE(limit.reached());
  }
}

TEST(memory_limit, fails_no_other) {
  const memory_limit limit(1);
  EXPECT_EQ(allocations_made(), 0);
  EXPECT_EQ(allocations_made(), 10);
}

TEST(memory_limit, that_was_not_reached_says_so) {
  bool reached = true;
  int made = 0;
  {
    const memory_limit limit(11);
    made = allocations_made();
    reached = limit.reached();
  }
  EXPECT_EQ(made, 10);
  EXPECT_FALSE(reached);
}

TEST(memory_limit, ends_with_its_scope) {
  {
    const memory_limit limit(3);
  }
  EXPECT_EQ(allocations_made(), 10);
}

template <typename Allocate>
bool fails(Allocate allocate) {
  const memory_limit limit(1);
  try {
    return allocate() == nullptr && limit.reached();
  } catch (const std::bad_alloc&) {
    return limit.reached();
  }
}

TEST(memory_limit, counts_every_form_of_operator_new) {
  constexpr std::align_val_t aligned{256};
  const std::nothrow_t& quiet = std::nothrow;
  EXPECT_TRUE(fails([&] { return ::operator new(9); }));
  EXPECT_TRUE(fails([&] { return ::operator new[](9); }));
  EXPECT_TRUE(fails([&] { return ::operator new(9, quiet); }));
  EXPECT_TRUE(fails([&] { return ::operator new[](9, quiet); }));
  EXPECT_TRUE(fails([&] { return ::operator new(9, aligned); }));
  EXPECT_TRUE(fails([&] { return ::operator new[](9, aligned); }));
  EXPECT_TRUE(fails([&] { return ::operator new(9, aligned, quiet); }));
  EXPECT_TRUE(fails([&] { return ::operator new[](9, aligned, quiet); }));
}

TEST(memory_limit, leaves_allocations_usable_and_aligned) {
  const memory_limit limit(1'000'000);
  for (const std::size_t align : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
    auto* const block = static_cast<unsigned char*>(::operator new(1000, std::align_val_t{align}));
    block[0] = block[999] = 1;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % align, 0U);
    ::operator delete(block, std::align_val_t{align});
  }
  void* const nothing = ::operator new(0);
  EXPECT_NE(nothing, nullptr);
  ::operator delete(nothing);
}

TEST(memory_limit, reaches_into_libraries) {
  const std::string text(1000, 'x');
  std::string grown;
  EXPECT_THROW(
      {
        const memory_limit limit(1);
        grown = text;  // std::string's code is in libstdc++
      },
      std::bad_alloc);
  EXPECT_TRUE(grown.empty());
}

TEST(memory_limit, is_for_the_calling_thread_unless_told_otherwise) {
  const auto made_by_another = [](memory_limit::whose whose) {
    int made = -1;
    std::atomic<bool> go = false;
    std::thread other([&] {
      while (!go) std::this_thread::yield();
      made = allocations_made();
    });
    {
      const memory_limit limit(4, whose);
      go = true;
      other.join();
    }
    return made;
  };
  EXPECT_EQ(made_by_another(memory_limit::whose::this_thread), 10);
  EXPECT_EQ(made_by_another(memory_limit::whose::any_thread), 3);
}

TEST(memory_limit, leads_a_test_through_every_failure) {
  std::size_t kth = 1;
  for (bool reached = true; reached; ++kth) {
    std::vector<std::string> made;
    const memory_limit limit(kth);
    try {
      made.reserve(2);
      made.emplace_back(100, 'a');
      made.emplace_back(100, 'b');
    } catch (const std::bad_alloc&) {
    }
    reached = limit.reached();
  }
  EXPECT_EQ(kth - 1, 4U) << "three allocations fail, and at the fourth there is nothing left";
}

TEST(memory_limit, is_one_at_a_time) {
  const memory_limit limit(1'000'000);
  EXPECT_DEATH(memory_limit(1), "one memory limit at a time");
}

}  // namespace
