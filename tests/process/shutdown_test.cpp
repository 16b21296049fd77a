// tests/process/shutdown_test.cpp: programs that are asked to end, and how they do.
#include "skua/process/shutdown.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/forked.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <utility>

namespace {

using namespace std::chrono_literals;
using skua::spawn;
using skua::task;
using skua_test::error_of;

class shutdowns : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, shutdowns, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(shutdowns, begin_with_either_signal) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const int one : {SIGINT, SIGTERM}) {
      auto waits = skua::shutdown_signal(skua::second_signal::is_kept);
      ::raise(one);  // it listens although nobody awaits it yet
      EXPECT_EQ(skua::or_throw(co_await std::move(waits)), one);
    }
    auto key = skua::ctrl_c();
    ::raise(SIGTERM);
    ::raise(SIGINT);
    EXPECT_TRUE((co_await std::move(key)).has_value());
    EXPECT_EQ(error_of(co_await skua::timeout(2ms, skua::ctrl_c())), std::errc::timed_out);
  };
  rt.block_on(body());
}

TEST_P(shutdowns, let_a_program_finish) {
  auto rt = start();
  auto body = []() -> task<> {
    auto program = [](skua::cancel_token ends, int start) -> task<int> {
      ::raise(SIGTERM);
      co_await ends.wait();
      co_await skua::sleep(1ms);  // what there is to finish
      co_return start + 1;
    };
    EXPECT_EQ(skua::or_throw(co_await skua::run_until_shutdown(10s, program, 41)), 42);
  };
  rt.block_on(body());
}

TEST_P(shutdowns, stop_a_program_that_takes_too_long) {
  auto rt = start();
  auto body = []() -> task<> {
    auto program = [](skua::cancel_token ends, int signals) -> task<> {
      for (int i = 0; i < signals; ++i) {
        ::raise(SIGINT);
        co_await ends.wait();  // heard: two before that would be one
      }
      co_await skua::sleep(1h);
    };
    EXPECT_EQ(error_of(co_await skua::run_until_shutdown(5ms, program, 1)),
              std::errc::operation_canceled);
    EXPECT_EQ(error_of(co_await skua::run_until_shutdown(1h, program, 2)),
              std::errc::operation_canceled)
        << "the second signal has no patience";
  };
  rt.block_on(body());
}

TEST_P(shutdowns, do_nothing_to_a_program_that_ends_by_itself) {
  auto rt = start();
  auto body = []() -> task<> {
    auto program = [](skua::cancel_token) -> task<skua::result<int>> { co_return 7; };
    EXPECT_EQ(skua::or_throw(co_await skua::run_until_shutdown(1s, program)), 7);
    auto fails = [](skua::cancel_token) -> task<skua::result<int>> {
      co_return skua::fail(skua::errc::closed);
    };
    EXPECT_EQ(error_of(co_await skua::run_until_shutdown(1s, fails)), skua::errc::closed);
    auto stops = spawn([]() -> task<> {
      auto waits = [](skua::cancel_token) -> task<> { co_await skua::sleep(1h); };
      static_cast<void>(co_await skua::run_until_shutdown(1h, waits));
    });
    co_await skua::sleep(1ms);
    stops.abort();
    EXPECT_TRUE((co_await stops.outcome()).stopped());
  };
  rt.block_on(body());
}

// --- by which the process ends: in a forked child

/// The first signal is heard; then another, and the child is to be gone.
template <typename Body>
int end_of_child(Body body) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::alarm(100);
    {
      auto rt = skua_test::started(skua_test::alone.settings());
      rt.block_on(body());
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(id, &status, 0), id);
  return status;
}

TEST(second_signals, end_the_process_at_once) {
  const int status = end_of_child([]() -> task<> {
    auto waits = skua::shutdown_signal();
    ::raise(SIGINT);
    static_cast<void>(co_await std::move(waits));
    ::raise(SIGTERM);
    co_await skua::sleep(1h);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST(second_signals, end_a_process_that_is_stuck_before_it_has_seen_the_first) {
  const int status = end_of_child([]() -> task<> {
    auto waits = skua::shutdown_signal();
    ::raise(SIGTERM);
    ::raise(SIGINT);
    static_cast<void>(co_await std::move(waits));
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
}

TEST(second_signals, are_kept_if_told_to) {
  const int status = end_of_child([]() -> task<> {
    auto waits = skua::shutdown_signal(skua::second_signal::is_kept);
    ::raise(SIGINT);
    static_cast<void>(co_await std::move(waits));
    ::raise(SIGINT);
    ::raise(SIGTERM);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(second_signals, are_first_ones_for_those_who_listen_anew) {
  const int status = end_of_child([]() -> task<> {
    for (const int one : {SIGTERM, SIGTERM, SIGINT}) {
      auto waits = skua::shutdown_signal();
      ::raise(one);
      if (skua::or_throw(co_await std::move(waits)) != one) ::_exit(1);
    }
    ::raise(SIGINT);  // and this is a second one
    co_await skua::sleep(1h);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
}

TEST(second_signals, end_what_runs_until_the_first) {
  const int status = end_of_child([]() -> task<> {
    auto works = []() -> task<> {
      ::raise(SIGTERM);
      co_await skua::sleep(1h);
    };
    const auto end = co_await skua::until_shutdown(works());
    if (error_of(end) == std::errc::operation_canceled) ::raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

}  // namespace
