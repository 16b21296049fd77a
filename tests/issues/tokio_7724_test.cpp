// tests/issues/tokio_7724_test.cpp: a runtime did not start where io_uring is forbidden.
//
// Tokio 7724: containers answer io_uring_setup with EPERM. The runtime knew ENOSYS only, took any
// other error for a broken system, and gave up, although epoll was there.
//
// Here any error leads to epoll (make_drivers()), whatever the kernel or a filter says, also to the
// first use of a ring (ring::try_nop()); the choice is in driver_info and in the log. Who insists
// on io_uring is told why there is none.
#include "skua/skua.hpp"
#include "support/forked.hpp"
#include "support/log_recorder.hpp"
#include "support/pipes.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <tuple>

namespace {

namespace io = skua::io;
using skua::task;
using skua_test::bytes_of;
using skua_test::kind;
using skua_test::log_recorder;
using skua_test::pipe_pair;
using skua_test::room;

/// What the child says by its end; 0 is good.
enum verdict : int {
  good = 0,
  did_not_start = 1,
  wrong_driver = 2,
  wrong_reason = 3,
  not_in_log = 4,
  wrong_bytes = 5,
  started_all_the_same = 6,
  wrong_error = 7,
  incomplete = 8,
};

/// From now on, in this thread and those that it starts, the call only gives `error`. False if the
/// system does not let us.
bool forbid(unsigned call, int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

task<> writes(int fd) {
  co_await skua::sleep(std::chrono::milliseconds(1));
  co_await io::write(fd, bytes_of("through epoll"));
}

task<bool> bytes_pass() {
  const pipe_pair pipe;
  auto writer = skua::spawn(writes(pipe.in()));
  room<32> into;
  const auto got = co_await io::read(pipe.out(), into.span());
  co_await std::move(writer);
  co_return into.text(got) == "through epoll";
}

std::string text_of(int error) {
  return std::generic_category().message(error);
}

/// A runtime that is free to choose.
verdict falls_back(const kind& which, int error) {
  log_recorder log;
  skua::config settings = which.settings();
  settings.log = log.logger(skua::log_level::info);
  auto rt = skua::runtime::start(settings);
  if (!rt) return did_not_start;
  const skua::driver_info chosen = rt->driver_info();
  if (chosen.used != skua::backend::epoll || !chosen.fell_back) return wrong_driver;
  if (!std::string(chosen.reason()).contains(text_of(error))) return wrong_reason;
  const auto said = log.with("has chosen its driver");
  if (said.size() != 1 || said[0].fields.at("driver") != "epoll" ||
      said[0].fields.at("reason") != chosen.reason())
    return not_in_log;
  for (int i = 0; i < 5; ++i)
    if (!rt->block_on(bytes_pass())) return wrong_bytes;
  return rt->shutdown().complete() ? good : incomplete;
}

/// One that is told to use io_uring.
verdict insists(const kind& which, int error) {
  skua::config settings = which.settings();
  settings.backend = skua::backend::uring;
  const auto rt = skua::runtime::start(settings);
  if (rt) return started_all_the_same;
  const std::string said(rt.error().message());
  const bool right = rt.error().code() == std::error_code(error, std::generic_category()) &&
                     said.contains("uring") && said.contains(text_of(error));
  if (!right) std::fprintf(stderr, "%s\n", said.c_str());
  return right ? good : wrong_error;
}

class tokio_7724 : public testing::TestWithParam<std::tuple<kind, int>> {
protected:
  /// Runs `what` in a child in which `call` gives the error of the test.
  template <typename What>
  void in_a_sandbox(unsigned call, const What& what) {
    const auto [which, error] = GetParam();
    skua_test::forked child;
    if (child.fork()) {
      ::unsetenv("SKUA_BACKEND");
      if (!forbid(call, error)) ::_exit(good);
      ::_exit(what(which, error));
    }
    child.join();
    EXPECT_TRUE(child.exited_well()) << child.end();
  }
};

TEST_P(tokio_7724, where_no_ring_can_be_made_epoll_is_used_and_said_to_be) {
  in_a_sandbox(SYS_io_uring_setup, falls_back);
}

TEST_P(tokio_7724, where_no_ring_can_be_used_epoll_is_used_and_said_to_be) {
  in_a_sandbox(SYS_io_uring_enter, falls_back);
}

TEST_P(tokio_7724, where_no_ring_can_be_made_who_insists_is_told_why) {
  in_a_sandbox(SYS_io_uring_setup, insists);
}

INSTANTIATE_TEST_SUITE_P(every, tokio_7724,
                         testing::Combine(skua_test::every_kind(),
                                          testing::Values(EPERM, ENOSYS, EOPNOTSUPP, ENOMEM, EACCES,
                                                          EINVAL)),
                         [](const auto& from) {
                           return testing::PrintToString(std::get<0>(from.param)) + "_errno_" +
                                  std::to_string(std::get<1>(from.param));
                         });

}  // namespace
