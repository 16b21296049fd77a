// tests/driver/epoll/poller_test.cpp: an epoll instance says what happens, and waits exactly.
#include "driver/epoll/poller.hpp"

#include "skua/base/clock.hpp"
#include "skua/driver/timer.hpp"
#include "support/pipes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using skua::poller;
using skua_test::pipe_pair;

constexpr std::int64_t millisecond = 1'000'000;

TEST(poller, tells_what_happened_where) {
  auto made = poller::make();
  ASSERT_TRUE(made.has_value());
  pipe_pair pipe;
  std::array<epoll_event, 4> room{};
  EXPECT_EQ(made->add(pipe.out(), EPOLLIN | EPOLLET, 77), 0);
  EXPECT_TRUE(made->look(room).empty());
  EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
  const auto events = made->wait(room, skua::no_deadline);
  ASSERT_EQ(events.size(), 1U);
  const std::uint64_t data = events[0].data.u64;  // packed: it has no address to refer to
  const std::uint32_t what = events[0].events;
  EXPECT_EQ(data, 77U);
  EXPECT_EQ(what, std::uint32_t{EPOLLIN});
  EXPECT_TRUE(made->look(room).empty()) << "an edge is told once";
  EXPECT_EQ(made->modify(pipe.out(), EPOLLIN | EPOLLONESHOT, 78), 0);
  EXPECT_EQ(made->look(room).size(), 1U);
  made->remove(pipe.out());
  EXPECT_EQ(made->modify(pipe.out(), EPOLLIN, 79), ENOENT);
}

TEST(poller, says_why_it_refuses) {
  auto made = poller::make();
  ASSERT_TRUE(made.has_value());
  pipe_pair pipe;
  EXPECT_EQ(made->add(-1, EPOLLIN, 0), EBADF);
  EXPECT_EQ(made->modify(pipe.out(), EPOLLIN, 0), ENOENT);
  EXPECT_EQ(made->add(pipe.out(), EPOLLIN, 0), 0);
  EXPECT_EQ(made->add(pipe.out(), EPOLLIN, 0), EEXIST);
  std::string name = "/tmp/skua_poller_XXXXXX";
  const skua::unique_fd file(::mkstemp(name.data()));
  ::unlink(name.c_str());
  EXPECT_EQ(made->add(file.get(), EPOLLIN, 0), EPERM);
}

TEST(poller, waits_no_less_than_it_is_told) {
  auto made = poller::make();
  ASSERT_TRUE(made.has_value());
  const skua::monotonic_clock clock;
  std::array<epoll_event, 4> room{};
  for (const std::int64_t length : {std::int64_t{0}, millisecond / 10, 3 * millisecond / 2}) {
    const std::int64_t before = clock.now();
    EXPECT_TRUE(made->wait(room, length).empty());
    EXPECT_GE(clock.now() - before, length);
  }
}

}  // namespace
