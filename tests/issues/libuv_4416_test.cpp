// tests/issues/libuv_4416_test.cpp: a process gave up its rights, and its ring kept them.
//
// libuv 4416: the loop made its ring as root, with a thread of the kernel's that submits. The
// program then became an ordinary user; that thread did not, and files were opened with the rights
// of root.
//
// Here a ring has no such thread (ring::open() asks for no IORING_SETUP_SQPOLL), and no entry has a
// personality: the kernel looks at the rights of the thread that calls it, at the time of the call.
// On epoll, files are opened by threads of our own, which change with the process.
#include "skua/skua.hpp"
#include "support/forked.hpp"
#include "support/started.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace {

namespace io = skua::io;
using skua::task;

constexpr uid_t nobody = 65534;

task<std::error_code> opens(const char* path, int flags) {
  const auto got = co_await io::open(path, flags);
  co_return got.has_value() ? std::error_code() : got.error();
}

/// On every worker, if it so happens.
task<int> opens_often(const char* path, int times) {
  std::vector<skua::join_handle<std::error_code>> all;
  for (int i = 0; i < times; ++i) all.push_back(skua::spawn(opens(path, O_RDWR)));
  int opened = 0;
  for (auto& one : all) {
    const std::error_code end = co_await std::move(one);
    if (!end) ++opened;
    if (end && end != std::errc::permission_denied) opened += 1'000;
  }
  co_return opened;
}

/// How the rights are given up.
enum class way { for_good, for_now };

bool becomes_nobody(way how) {
  return how == way::for_good ? ::setresuid(nobody, nobody, nobody) == 0 : ::seteuid(nobody) == 0;
}

/// 0 is good.
int lives_on_as_nobody(const skua_test::kind& which, const char* path, way how) {
  constexpr int times = 30;
  auto rt = skua_test::started(which.settings());
  if (rt.block_on(opens_often(path, times)) != times) return 1;
  if (!becomes_nobody(how)) return 2;
  const int opened = rt.block_on(opens_often(path, times));
  if (opened != 0) {
    std::fprintf(stderr, "%d of %d were opened with the rights of root\n", opened, times);
    return 3;
  }
  if (how == way::for_now) {
    if (::seteuid(0) != 0) return 4;
    if (rt.block_on(opens_often(path, times)) != times) return 5;
  }
  return rt.shutdown().complete() ? 0 : 6;
}

/// With a file that only root may open.
class libuv_4416 : public testing::TestWithParam<skua_test::kind> {
protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has rights to give up";
    const int made = ::mkstemp(path_.data());
    ASSERT_GE(made, 0);
    ASSERT_EQ(::fchmod(made, 0600), 0);
    ::close(made);
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  void in_a_child(way how) {
    skua_test::forked child;
    if (child.fork()) ::_exit(lives_on_as_nobody(GetParam(), path_.c_str(), how));
    child.join();
    EXPECT_TRUE(child.exited_well()) << child.end();
  }

private:
  std::string path_ = "/tmp/skua_4416_XXXXXX";
};
INSTANTIATE_TEST_SUITE_P(every, libuv_4416, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(libuv_4416, a_runtime_that_root_started_opens_nothing_for_nobody) {
  in_a_child(way::for_good);
}

TEST_P(libuv_4416, a_runtime_opens_with_the_rights_of_the_moment) {
  in_a_child(way::for_now);
}

}  // namespace
