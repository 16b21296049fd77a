// tests/runtime/sandbox_test.cpp: a process that forbids itself membarrier goes on all the same.
#include "skua/skua.hpp"
#include "support/forked.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace {

using skua::spawn;
using skua::task;

/// For the calling thread, for good. False if the system does not let us.
bool forbid_membarrier() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

task<int> family(int depth) {
  if (depth == 0) co_return 1;
  auto one = spawn(family(depth - 1));
  auto other = spawn(family(depth - 1));
  const int first = co_await std::move(one);
  co_return first + co_await std::move(other);
}

class sandbox : public testing::TestWithParam<skua_test::kind> {
protected:
  /// Runs families before and after, or only after, in a child.
  void live_in(bool already_started) {
    skua_test::forked child;
    if (child.fork()) {
      if (!already_started && !forbid_membarrier()) _exit(0);
      {
        auto rt = skua_test::started(GetParam().settings());
        if (rt.block_on(family(4)) != 16) _exit(1);
        if (already_started && !forbid_membarrier()) _exit(0);
        for (int i = 0; i < 50; ++i)
          if (rt.block_on(family(4)) != 16) _exit(2);
        if (!rt.shutdown().complete()) _exit(3);
      }
      _exit(0);
    }
    child.join();
    EXPECT_TRUE(child.exited_well()) << child.end();
  }
};

TEST_P(sandbox, without_membarrier_from_the_start) {
  live_in(false);
}

TEST_P(sandbox, without_membarrier_after_the_start) {
  live_in(true);
}

INSTANTIATE_TEST_SUITE_P(runtimes, sandbox, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
