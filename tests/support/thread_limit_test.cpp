// tests/support/thread_limit_test.cpp: exactly the chosen thread is not created.
#include "support/thread_limit.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

namespace {

using skua_test::thread_limit;

/// Makes threads until one cannot be made, at most ten; how many there were.
int threads_made() {
  int made = 0;
  try {
    for (; made < 10; ++made) std::thread([] {}).join();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
  }
  return made;
}

TEST(thread_limit, fails_the_chosen_creation) {
  for (int kth = 1; kth <= 10; ++kth) {
    const thread_limit limit(static_cast<std::size_t>(kth));
    EXPECT_EQ(threads_made(), kth - 1);
    EXPECT_TRUE(limit.reached());
  }
}

TEST(thread_limit, fails_no_other) {
  const thread_limit limit(1);
  EXPECT_EQ(threads_made(), 0);
  EXPECT_EQ(threads_made(), 10);
}

TEST(thread_limit, that_was_not_reached_says_so) {
  const thread_limit limit(11);
  EXPECT_EQ(threads_made(), 10);
  EXPECT_FALSE(limit.reached());
}

TEST(thread_limit, ends_with_its_scope) {
  {
    const thread_limit limit(3);
  }
  EXPECT_EQ(threads_made(), 10);
}

TEST(thread_limit, fails_pthread_create_itself) {
  const thread_limit limit(1);
  pthread_t thread{};
  const auto body = [](void*) -> void* { return nullptr; };
  EXPECT_EQ(pthread_create(&thread, nullptr, body, nullptr), EAGAIN);
  EXPECT_EQ(pthread_create(&thread, nullptr, body, nullptr), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
}

TEST(thread_limit, counts_the_creations_of_every_thread) {
  std::atomic<bool> go = false;
  std::atomic<int> failures = 0;
  const auto make_five = [&] {
    while (!go) std::this_thread::yield();
    for (int i = 0; i < 5; ++i) {
      try {
        std::thread([] {}).join();
      } catch (const std::system_error&) {
        ++failures;
      }
    }
  };
  std::thread first(make_five);
  std::thread second(make_five);
  const thread_limit limit(10);
  go = true;
  first.join();
  second.join();
  EXPECT_EQ(failures, 1);
}

TEST(thread_limit, leaves_threads_that_a_sanitizer_knows) {
  const thread_limit limit(2);
  int written = 0;  // a race, if the creation and the join were not seen
  std::thread([&] { written = 1; }).join();
  EXPECT_EQ(written, 1);
}

TEST(thread_limit, is_one_at_a_time) {
  const thread_limit limit(5);
  EXPECT_DEATH(thread_limit(1), "one thread limit at a time");
}

}  // namespace
