// tests/driver/fork_guard_test.cpp: a child knows that it is one, however it was made.
#include "driver/fork_guard.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <type_traits>
#include <vector>

namespace {

using skua::fork_guard;
using method = fork_guard::method;

static_assert(!std::is_copy_constructible_v<fork_guard>);
static_assert(!std::is_move_constructible_v<fork_guard>);
static_assert(!std::is_copy_assignable_v<fork_guard>);

int exit_code(bool right) {
  return right ? 0 : 1;
}

int ended(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What `body` says in a child.
template <typename Body>
bool in_fork(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(exit_code(body()));
  return ended(child) == 0;
}

class either_method : public testing::TestWithParam<method> {};
INSTANTIATE_TEST_SUITE_P(fork_guard, either_method,
                         testing::Values(method::wiped_page, method::process_id),
                         [](const auto& each) {
                           return each.param == method::wiped_page ? "wiped_page" : "process_id";
                         });

TEST_P(either_method, is_the_one_asked_for) {
  const fork_guard guard(GetParam());
  EXPECT_EQ(guard.used(), GetParam()) << "Linux before 4.14 has no such page";
}

TEST_P(either_method, knows_the_owner_and_its_number) {
  const fork_guard guard(GetParam());
  EXPECT_FALSE(guard.in_child());
  EXPECT_EQ(guard.owner_pid(), getpid());
}

TEST_P(either_method, knows_a_forked_child_and_still_the_owner) {
  const fork_guard guard(GetParam());
  const std::int32_t owner = getpid();
  EXPECT_TRUE(in_fork([&] { return guard.in_child() && guard.owner_pid() == owner; }));
  EXPECT_FALSE(guard.in_child());
}

TEST_P(either_method, knows_a_child_s_child) {
  const fork_guard guard(GetParam());
  EXPECT_TRUE(in_fork([&] { return in_fork([&] { return guard.in_child(); }); }));
}

TEST_P(either_method, knows_a_child_made_without_fork_handlers) {
  const fork_guard guard(GetParam());
  const pid_t child = _Fork();
  if (child == 0) _exit(exit_code(guard.in_child()));
  EXPECT_EQ(ended(child), 0);
}

TEST_P(either_method, knows_a_child_made_by_clone) {
  const fork_guard guard(GetParam());
  std::vector<unsigned char> stack(std::size_t{256} * 1024);
  const auto body = [](void* asked) -> int {
    return exit_code(static_cast<const fork_guard*>(asked)->in_child());
  };
  const pid_t child =
      clone(body, stack.data() + stack.size(), SIGCHLD, const_cast<fork_guard*>(&guard));
  ASSERT_GT(child, 0);
  EXPECT_EQ(ended(child), 0);
}

TEST_P(either_method, takes_the_child_for_the_owner_of_its_own_guard) {
  const fork_guard outer(GetParam());
  EXPECT_TRUE(in_fork([&] {
    const fork_guard own(GetParam());
    return outer.in_child() && !own.in_child() && own.owner_pid() == getpid() &&
           in_fork([&] { return own.in_child() && outer.in_child(); });
  }));
}

TEST_P(either_method, may_end_in_the_child_and_serve_on_in_the_owner) {
  const auto guard = std::make_unique<fork_guard>(GetParam());
  EXPECT_TRUE(in_fork([&] {
    guard->~fork_guard();
    return true;
  }));
  EXPECT_FALSE(guard->in_child());
}

TEST(fork_guard, does_without_a_page_if_there_is_no_memory) {
  EXPECT_TRUE(in_fork([] {
    rlimit none{};
    getrlimit(RLIMIT_AS, &none);
    none.rlim_cur = 0;
    setrlimit(RLIMIT_AS, &none);
    const fork_guard guard;
    return guard.used() == method::process_id && !guard.in_child() &&
           in_fork([&] { return guard.in_child(); });
  }));
}

/// Pages of the process's address space.
long mapped_pages() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(fork_guard, gives_its_page_back) {
  const long before = mapped_pages();
  for (int i = 0; i < 10'000; ++i) {
    const fork_guard guard;
    ASSERT_EQ(guard.used(), method::wiped_page);
  }
  EXPECT_LT(mapped_pages(), before + 5'000);
}

}  // namespace
