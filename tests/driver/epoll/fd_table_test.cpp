// tests/driver/epoll/fd_table_test.cpp: each number has one entry, which stays where it is.
#include "driver/epoll/fd_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <set>
#include <thread>
#include <vector>

namespace {

using skua::fd_entry;
using skua::fd_table;

TEST(fd_table, has_nothing_before_it_is_asked) {
  fd_table table;
  for (const int fd : {-1, -100, 0, 7, std::numeric_limits<int>::max()})
    EXPECT_EQ(table.find(fd), nullptr) << fd;
}

TEST(fd_table, refuses_what_is_no_descriptor) {
  fd_table table;
  EXPECT_EQ(table.get(-1), nullptr);
  EXPECT_EQ(table.get(std::numeric_limits<int>::min()), nullptr);
}

TEST(fd_table, gives_each_number_its_entry_for_good) {
  fd_table table;
  constexpr std::array numbers = {
      0, 1, 255, 256, 1'000'000, (1 << 20) - 1, 1 << 20, 0x7fffffff, 0x40000000, 0xfffff, 511};
  std::set<fd_entry*> seen;
  std::vector<fd_entry*> first;
  for (const int fd : numbers) first.push_back(table.get(fd));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_NE(first[i], nullptr);
    EXPECT_EQ(table.get(numbers[i]), first[i]);
    EXPECT_EQ(table.find(numbers[i]), first[i]);
    seen.insert(first[i]);
  }
  EXPECT_EQ(seen.size(), numbers.size() - 1) << "two of them are the same number";
}

TEST(fd_table, forgets_a_file_but_not_that_it_was_there) {
  fd_table table;
  fd_entry& entry = *table.get(5);
  entry.kind = fd_entry::interest::ever;
  entry.may_try = skua::not_ready;
  entry.odd = entry.tcp = entry.nonblocking = true;
  entry.forget();
  EXPECT_EQ(entry.generation, 1U);
  EXPECT_EQ(entry.kind, fd_entry::interest::none);
  EXPECT_EQ(entry.may_try, skua::ready);
  EXPECT_FALSE(entry.odd || entry.tcp || entry.nonblocking);
}

TEST(fd_table, grows_once_whoever_asks) {
  for (int round = 0; round < 300; ++round) {
    fd_table table;
    constexpr int threads = 4;
    std::array<std::array<fd_entry*, 8>, threads> seen{};
    std::atomic<int> ready = 0;
    std::vector<std::thread> all;
    for (std::size_t who = 0; who < threads; ++who)
      all.emplace_back([&, who] {
        ++ready;
        while (ready < threads) std::this_thread::yield();
        for (std::size_t i = 0; i < seen[who].size(); ++i) {
          fd_entry* const entry = table.get(static_cast<int>(i * 300'000));
          const std::lock_guard hold(entry->mutex);
          ++entry->waiting;
          seen[who][i] = entry;
        }
      });
    for (std::thread& one : all) one.join();
    for (std::size_t i = 0; i < seen[0].size(); ++i) {
      for (const auto& mine : seen) EXPECT_EQ(mine[i], seen[0][i]);
      EXPECT_EQ(seen[0][i]->waiting, static_cast<std::uint32_t>(threads));
    }
  }
}

}  // namespace
