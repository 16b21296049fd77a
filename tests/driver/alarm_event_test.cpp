// tests/driver/alarm_event_test.cpp: an alarm goes off each time it is set, though nobody reads it.
#include "driver/alarm_event.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <chrono>

namespace {

using skua::alarm_event;

TEST(alarm_event, goes_off_each_time_it_is_set) {
  auto alarm = alarm_event::make();
  ASSERT_TRUE(alarm.has_value());
  const skua::unique_fd watcher(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event what{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(watcher.get(), EPOLL_CTL_ADD, alarm->fd(), &what), 0);
  for (int i = 0; i < 3; ++i) {
    const auto before = std::chrono::steady_clock::now();
    alarm->set(2'000'000);
    EXPECT_EQ(::epoll_wait(watcher.get(), &what, 1, 10'000), 1);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(2));
    EXPECT_EQ(::epoll_wait(watcher.get(), &what, 1, 5), 0) << "once";
  }
}

TEST(alarm_event, that_is_set_again_goes_off_at_the_new_time_only) {
  auto alarm = alarm_event::make();
  ASSERT_TRUE(alarm.has_value());
  const skua::unique_fd watcher(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event what{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(watcher.get(), EPOLL_CTL_ADD, alarm->fd(), &what), 0);
  alarm->set(3'600'000'000'000);
  alarm->set(0);
  EXPECT_EQ(::epoll_wait(watcher.get(), &what, 1, 10'000), 1);
  EXPECT_EQ(::epoll_wait(watcher.get(), &what, 1, 5), 0);
}

}  // namespace
