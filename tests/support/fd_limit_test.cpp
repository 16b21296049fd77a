// tests/support/fd_limit_test.cpp: the process gets the descriptors it was told, and no more.
#include "support/fd_limit.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

namespace {

using skua_test::fd_limit;

int open_one() {
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/// How many can be opened, at most ten. They are closed again.
int openable() {
  std::vector<int> opened;
  while (opened.size() < 10) {
    const int one = open_one();
    if (one < 0) {
      EXPECT_EQ(errno, EMFILE);
      break;
    }
    opened.push_back(one);
  }
  for (const int one : opened) close(one);
  return static_cast<int>(opened.size());
}

TEST(fd_limit, leaves_as_many_as_it_says) {
  for (int more = 0; more < 10; ++more) {
    const fd_limit limit(static_cast<std::size_t>(more));
    EXPECT_EQ(openable(), more);
  }
}

TEST(fd_limit, is_zero_if_nothing_is_said) {
  const fd_limit limit;
  EXPECT_EQ(openable(), 0);
}

TEST(fd_limit, holds_for_every_kind_of_descriptor) {
  const fd_limit limit;
  int ends[2];
  EXPECT_LT(dup(STDIN_FILENO), 0);
  EXPECT_EQ(errno, EMFILE);
  EXPECT_LT(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(errno, EMFILE);
}

TEST(fd_limit, ends_with_its_scope) {
  rlimit before{};
  rlimit after{};
  getrlimit(RLIMIT_NOFILE, &before);
  {
    const fd_limit limit;
  }
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  EXPECT_EQ(openable(), 10);
}

TEST(fd_limit, counts_gaps_and_leaves_open_descriptors_alone) {
  const int low = open_one();
  const int middle = open_one();
  const int high = open_one();
  close(low);  // a gap
  {
    const fd_limit none;
    EXPECT_EQ(openable(), 0);
    char byte = 0;
    EXPECT_EQ(read(high, &byte, 1), 0) << "still open";
  }
  {
    const fd_limit two(2);
    EXPECT_EQ(openable(), 2);
  }
  close(middle);
  close(high);
}

TEST(fd_limit, keeps_no_thread_from_starting) {
  const fd_limit limit;
  bool ran = false;
  std::thread([&] { ran = true; }).join();
  EXPECT_TRUE(ran);
}

/// Types that UndefinedBehaviorSanitizer meets under the limit for the first time.
struct shape {
  shape() = default;
  shape(const shape&) = delete;
  shape& operator=(const shape&) = delete;
  virtual ~shape() = default;
  [[nodiscard]] virtual int corners() const { return 0; }
};
struct square final : shape {
  [[nodiscard]] int corners() const override { return 4; }
};

TEST(fd_limit, lets_sanitizers_look_at_objects) {
  const fd_limit limit;
  const std::unique_ptr<shape> one = std::make_unique<square>();
  EXPECT_EQ(one->corners(), 4);
}

TEST(fd_limit, is_one_at_a_time) {
  const fd_limit limit(5);
  EXPECT_DEATH(fd_limit(1), "one limit of descriptors at a time");
}

}  // namespace
