// tests/driver/uring/ring_test.cpp: both queues go around and around, and nothing is lost.
#include "driver/uring/ring.hpp"

#include "skua/driver/timer.hpp"
#include "support/fd_limit.hpp"
#include "support/forked.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <bitset>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

using skua::ring;
using skua::ring_size;
using skua_test::open_fds;
using skua_test::pipe_pair;

std::unique_ptr<ring> made(ring_size size = {.submissions = 8, .completions = 16}) {
  auto one = ring::make(size);
  EXPECT_TRUE(one.has_value()) << "there is no io_uring here";
  return one ? std::move(*one) : nullptr;
}

/// False if there is no room.
bool add_nop(ring& to, std::uint64_t tag) {
  io_uring_sqe* const entry = to.next_entry();
  if (entry == nullptr) return false;
  entry->opcode = IORING_OP_NOP;
  entry->user_data = tag;
  to.publish();
  return true;
}

void add_poll(ring& to, int fd, std::uint64_t tag) {
  io_uring_sqe* const entry = to.next_entry();
  ASSERT_NE(entry, nullptr);
  entry->opcode = IORING_OP_POLL_ADD;
  entry->fd = fd;
  entry->poll32_events = POLLIN;
  entry->user_data = tag;
  to.publish();
}

std::vector<std::uint64_t> reaped(ring& from) {
  std::vector<std::uint64_t> tags;
  from.reap(1'000, [&](const io_uring_cqe& one) { tags.push_back(one.user_data); });
  return tags;
}

TEST(ring, is_as_large_as_was_asked_for_or_larger) {
  const auto one = made({.submissions = 20, .completions = 100});
  EXPECT_EQ(one->submission_entries(), 32U);
  EXPECT_EQ(one->completion_entries(), 128U);
  EXPECT_EQ(one->unsubmitted(), 0U) << "its own trial is over";
  EXPECT_FALSE(one->has_completions());
}

TEST(ring, submits_and_reaps_in_order) {
  const auto one = made();
  for (std::uint64_t i = 1; i <= 5; ++i) EXPECT_TRUE(add_nop(*one, i));
  EXPECT_EQ(one->unsubmitted(), 5U);
  EXPECT_FALSE(one->has_completions());
  EXPECT_EQ(one->enter(5, 0), 5);
  EXPECT_EQ(one->unsubmitted(), 0U);
  EXPECT_TRUE(one->has_completions());
  EXPECT_EQ(reaped(*one), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(one->has_completions());
  EXPECT_TRUE(reaped(*one).empty());
}

TEST(ring, submits_no_more_than_it_is_told_to) {
  const auto one = made();
  for (std::uint64_t i = 1; i <= 5; ++i) add_nop(*one, i);
  EXPECT_EQ(one->enter(2, 0), 2);
  EXPECT_EQ(one->unsubmitted(), 3U);
  EXPECT_EQ(reaped(*one), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(one->enter(3, 0), 3);
  EXPECT_EQ(reaped(*one), (std::vector<std::uint64_t>{3, 4, 5}));
}

TEST(ring, has_room_for_as_many_as_it_says) {
  const auto one = made();
  std::uint64_t count = 0;
  while (add_nop(*one, count)) ++count;
  EXPECT_EQ(count, one->submission_entries());
  EXPECT_FALSE(one->has_room());
  EXPECT_EQ(one->enter(static_cast<std::uint32_t>(count), 0), static_cast<int>(count));
  EXPECT_TRUE(one->has_room());
  EXPECT_EQ(reaped(*one).size(), count);
}

TEST(ring, gives_entries_that_are_all_zero) {
  const auto one = made();
  for (std::uint32_t i = 0; i < 3 * one->submission_entries(); ++i) {
    io_uring_sqe* const entry = one->next_entry();
    ASSERT_NE(entry, nullptr);
    const io_uring_sqe empty{};
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): every byte is the kernel's to read.
    EXPECT_EQ(std::memcmp(entry, &empty, sizeof empty), 0);
    entry->opcode = IORING_OP_NOP;
    entry->len = 0;
    entry->user_data = ~std::uint64_t{0};
    one->publish();
    EXPECT_EQ(one->enter(1, 0), 1);
    EXPECT_EQ(reaped(*one).size(), 1U);
  }
}

TEST(ring, goes_around_many_times) {
  const auto one = made();
  std::uint64_t next = 0;
  std::uint64_t seen = 0;
  for (int turn = 0; turn < 1'000; ++turn) {
    std::uint32_t count = 0;
    for (; count < 1 + static_cast<std::uint32_t>(turn) % 8; ++count) add_nop(*one, next++);
    ASSERT_EQ(one->enter(count, 0), static_cast<int>(count));
    for (const std::uint64_t tag : reaped(*one)) ASSERT_EQ(tag, seen++);
  }
  EXPECT_EQ(seen, next);
}

// More completions than there is room for: the kernel keeps them, and says so.
TEST(ring, loses_nothing_that_overflows) {
  const auto one = made();
  pipe_pair pipe;
  constexpr std::uint64_t count = 100;
  for (std::uint64_t i = 0; i < count; ++i) {
    add_poll(*one, pipe.out(), i);
    ASSERT_EQ(one->enter(1, 0), 1);
  }
  ASSERT_EQ(::write(pipe.in(), "x", 1), 1);
  std::bitset<count> seen;
  for (std::uint64_t i = 0; i < count && !seen.all(); ++i) {
    ASSERT_GE(one->enter(0, skua::no_deadline), 0);
    for (const std::uint64_t tag : reaped(*one)) {
      EXPECT_FALSE(seen[tag]) << "twice";
      seen[tag] = true;
    }
  }
  EXPECT_TRUE(seen.all());
  EXPECT_FALSE(one->wants_call());
}

TEST(ring, waits_for_as_long_as_it_is_told_to_and_no_longer) {
  using clock = std::chrono::steady_clock;
  const auto one = made();
  for (const std::chrono::nanoseconds length :
       {std::chrono::nanoseconds(1), std::chrono::nanoseconds(1'000'000),
        std::chrono::nanoseconds(20'000'000)}) {
    const auto before = clock::now();
    EXPECT_EQ(one->enter(0, length.count()), -ETIME);
    EXPECT_GE(clock::now() - before, length);
  }
  const auto before = clock::now();
  EXPECT_EQ(one->enter(0, 0), 0);
  add_nop(*one, 1);
  EXPECT_EQ(one->enter(1, std::int64_t{3'600} * 1'000'000'000), 1) << "something is there";
  EXPECT_LT(clock::now() - before, std::chrono::seconds(60));
  EXPECT_EQ(reaped(*one).size(), 1U);
}

TEST(ring, knows_what_its_kernel_knows) {
  const auto one = made();
  for (const int code : {IORING_OP_NOP, IORING_OP_READ, IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL})
    EXPECT_TRUE(one->supports(static_cast<std::uint8_t>(code))) << code;
  EXPECT_FALSE(one->supports(255));
}

TEST(ring, has_a_descriptor_and_no_other) {
  const std::size_t before = open_fds();
  {
    const auto one = made();
    EXPECT_GE(one->fd(), 0);
    EXPECT_EQ(open_fds(), before + 1);
  }
  EXPECT_EQ(open_fds(), before);
}

TEST(ring, is_an_errno_if_there_is_none_to_be_had) {
  const std::size_t before = open_fds();
  int why = 0;
  {
    const skua_test::fd_limit none;
    const auto refused = ring::make({});
    why = refused ? 0 : refused.error();
  }
  EXPECT_EQ(why, EMFILE);
  const auto odd = ring::make({.submissions = 64, .completions = 1});
  EXPECT_EQ(odd ? 0 : odd.error(), EINVAL) << "fewer completions than submissions";
  const auto empty = ring::make({.submissions = 0, .completions = 1});
  EXPECT_EQ(empty ? 0 : empty.error(), EINVAL);
  EXPECT_EQ(open_fds(), before);
}

// A child that touched the queues would move the tails of its parent's ring.
TEST(ring, is_not_there_in_a_forked_child) {
  const auto one = made();
  skua_test::forked child;
  if (child.fork()) {
    ::signal(SIGSEGV, SIG_DFL);
    static_cast<void>(one->unsubmitted());
    ::_exit(0);
  }
  child.join();
  EXPECT_FALSE(child.exited_well()) << "it could look at the queues";
  EXPECT_TRUE(add_nop(*one, 1));
  EXPECT_EQ(one->enter(1, 0), 1);
  EXPECT_EQ(reaped(*one).size(), 1U);
}

TEST(ring, for_one_thread_is_entered_by_the_one_that_took_it_over) {
  auto one = ring::make({.submissions = 8, .completions = 16}, skua::ring_use::one_thread);
  ASSERT_TRUE(one.has_value());
  ring& mine = **one;
  if (mine.use() != skua::ring_use::one_thread) GTEST_SKIP() << "Linux 6.1 or later has them";
  EXPECT_FALSE(mine.may_enter()) << "nobody has taken it";
  std::jthread([&] {
    mine.take_over();
    EXPECT_TRUE(mine.may_enter());
    EXPECT_TRUE(add_nop(mine, 7));
    EXPECT_EQ(mine.enter(1, 0), 1);
    EXPECT_EQ(reaped(mine), std::vector<std::uint64_t>{7});
  }).join();
  EXPECT_FALSE(mine.may_enter());
  EXPECT_TRUE(add_nop(mine, 8));
  EXPECT_EQ(mine.enter(1, 0), -EEXIST) << "and the kernel sees to it";
}

TEST(ring, for_one_thread_leaves_no_descriptor_of_the_one_that_was_tried) {
  const std::size_t before = open_fds();
  {
    const auto one = ring::make({.submissions = 8, .completions = 16}, skua::ring_use::one_thread);
    ASSERT_TRUE(one.has_value());
    EXPECT_EQ(open_fds(), before + 1);
  }
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
