// tests/driver/thread_stack_test.cpp: the stack of a thread that computes, and of none.
#include "driver/thread_stack.hpp"

#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

namespace {

using skua::thread_stack;

struct busy {
  std::atomic<std::int32_t> number{0};
  std::atomic<bool> over{false};
};

[[gnu::noinline]] void computes(busy& with) {
  with.number.store(thread_stack::this_thread());
  while (!with.over.load()) {
  }
}

/// True if one of the addresses is shortly after the function's beginning.
bool has_frame_in(std::span<void* const> frames, void (*function)(busy&)) {
  const auto* const begin = reinterpret_cast<const char*>(function);
  return std::ranges::any_of(frames, [begin](const void* at) {
    const auto* const address = static_cast<const char*>(at);
    return address >= begin && address < begin + 1'024;
  });
}

TEST(thread_stack, shows_where_a_thread_is) {
  ASSERT_EQ(thread_stack::install(SIGRTMIN + 3), 0);
  busy with;
  std::thread other(computes, std::ref(with));
  while (with.number.load() == 0) std::this_thread::yield();
  thread_stack stack;
  for (int i = 0; i < 3; ++i) {
    const auto frames = stack.of(with.number.load(), SIGRTMIN + 3);
    EXPECT_TRUE(has_frame_in(frames, computes)) << frames.size() << " frames";
  }
  with.over.store(true);
  other.join();
}

TEST(thread_stack, of_a_thread_that_is_gone_is_empty) {
  ASSERT_EQ(thread_stack::install(SIGRTMIN + 3), 0);
  busy with;
  with.over.store(true);
  std::thread(computes, std::ref(with)).join();
  thread_stack stack;
  EXPECT_TRUE(stack.of(with.number.load(), SIGRTMIN + 3).empty());
}

TEST(thread_stack, of_a_thread_that_blocks_the_signal_is_empty_and_comes_to_nothing_later) {
  ASSERT_EQ(thread_stack::install(SIGRTMIN + 3), 0);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGRTMIN + 3);
  pthread_sigmask(SIG_BLOCK, &only, nullptr);
  busy with;
  std::thread other(computes, std::ref(with));
  while (with.number.load() == 0) std::this_thread::yield();
  thread_stack stack;
  EXPECT_TRUE(stack.of(with.number.load(), SIGRTMIN + 3).empty());
  with.over.store(true);
  other.join();
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

TEST(thread_stack, cannot_be_asked_by_a_signal_that_is_none) {
  EXPECT_EQ(thread_stack::install(9'999), EINVAL);
}

}  // namespace
