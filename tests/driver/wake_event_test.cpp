// tests/driver/wake_event_test.cpp: each signal is an edge, though nobody ever reads.
#include "driver/wake_event.hpp"

#include "support/open_fds.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace {

using skua::unique_fd;
using skua::wake_event;

bool readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(wake_event, is_silent_until_it_is_signalled) {
  const auto event = wake_event::make();
  ASSERT_TRUE(event.has_value());
  EXPECT_FALSE(readable(event->fd()));
  event->signal();
  EXPECT_TRUE(readable(event->fd()));
  event->signal();
  EXPECT_TRUE(readable(event->fd())) << "nobody reads it";
}

TEST(wake_event, is_not_inherited_and_does_not_block) {
  const auto event = wake_event::make();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(::fcntl(event->fd(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(::fcntl(event->fd(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(wake_event, gives_an_edge_for_each_signal) {
  const auto event = wake_event::make();
  ASSERT_TRUE(event.has_value());
  const unique_fd watcher(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event what{.events = EPOLLIN | EPOLLET, .data = {.u64 = 7}};
  ASSERT_EQ(::epoll_ctl(watcher.get(), EPOLL_CTL_ADD, event->fd(), &what), 0);
  epoll_event seen{};
  EXPECT_EQ(::epoll_wait(watcher.get(), &seen, 1, 0), 0);
  for (int i = 0; i < 1'000; ++i) {
    event->signal();
    ASSERT_EQ(::epoll_wait(watcher.get(), &seen, 1, 10'000), 1) << "the signal was lost, at " << i;
    ASSERT_EQ(::epoll_wait(watcher.get(), &seen, 1, 0), 0) << "one signal, one edge";
  }
}

TEST(wake_event, ends_the_sleep_of_another_thread) {
  const auto event = wake_event::make();
  ASSERT_TRUE(event.has_value());
  std::thread sleeper([&] {
    pollfd one{.fd = event->fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&one, 1, -1), 1);
  });
  event->signal();
  sleeper.join();
}

TEST(wake_event, closes_its_descriptor_with_its_last_owner) {
  const std::size_t before = skua_test::open_fds();
  {
    auto event = wake_event::make();
    ASSERT_TRUE(event.has_value());
    const wake_event moved(std::move(*event));
    moved.signal();
    EXPECT_EQ(skua_test::open_fds(), before + 1);
  }
  EXPECT_EQ(skua_test::open_fds(), before);
}

}  // namespace
