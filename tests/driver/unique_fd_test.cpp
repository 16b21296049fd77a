// tests/driver/unique_fd_test.cpp: one owner for each descriptor, which closes it once.
#include "skua/driver/unique_fd.hpp"

#include "support/open_fds.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

namespace {

using skua::unique_fd;

static_assert(!std::is_copy_constructible_v<unique_fd> && !std::is_copy_assignable_v<unique_fd>);
static_assert(std::is_nothrow_move_constructible_v<unique_fd>);
static_assert(std::is_nothrow_move_assignable_v<unique_fd>);
static_assert(!std::is_convertible_v<int, unique_fd>, "no number becomes owned by accident");

int opened() {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_GE(number, 0);
  return number;
}

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) != -1;
}

TEST(unique_fd, has_none_at_first) {
  const unique_fd none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), -1);
}

TEST(unique_fd, closes_when_it_dies) {
  const int number = opened();
  {
    const unique_fd mine(number);
    EXPECT_TRUE(mine);
    EXPECT_EQ(mine.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(unique_fd, owns_the_number_zero_like_any_other) {
  const unique_fd saved(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  ::close(0);
  const int number = opened();
  EXPECT_EQ(number, 0) << "the lowest that is free";
  {
    const unique_fd mine(number);
    EXPECT_TRUE(mine);
  }
  EXPECT_FALSE(is_open(0));
  if (saved) {
    EXPECT_EQ(::dup2(saved.get(), 0), 0);
  }
}

TEST(unique_fd, gives_up_what_is_released) {
  unique_fd mine(opened());
  const int number = mine.release();
  EXPECT_FALSE(mine);
  mine.reset();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(unique_fd, leaves_nothing_where_it_was_moved_from) {
  const int number = opened();
  unique_fd from(number);
  unique_fd to(std::move(from));
  EXPECT_FALSE(from);  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(to.get(), number);
  EXPECT_TRUE(is_open(number));
}

TEST(unique_fd, closes_what_it_had_when_it_is_assigned_to) {
  const int old = opened();
  const int number = opened();
  unique_fd mine(old);
  mine = unique_fd(number);
  EXPECT_FALSE(is_open(old));
  EXPECT_EQ(mine.get(), number);
  mine.reset();
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(mine);
}

TEST(unique_fd, survives_an_assignment_to_itself) {
  unique_fd mine(opened());
  unique_fd& same = mine;
  mine = std::move(same);
  EXPECT_TRUE(is_open(mine.get()));
}

TEST(unique_fd, takes_another_by_reset) {
  const std::size_t before = skua_test::open_fds();
  {
    unique_fd mine;
    for (int i = 0; i < 10; ++i) {
      mine.reset(opened());
      EXPECT_EQ(skua_test::open_fds(), before + 1);
    }
  }
  EXPECT_EQ(skua_test::open_fds(), before);
}

}  // namespace
