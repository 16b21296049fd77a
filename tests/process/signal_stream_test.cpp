// tests/process/signal_stream_test.cpp: each stream hears of each signal; nobody else is disturbed.
#include "skua/process/signal_stream.hpp"

#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/forked.hpp"
#include "support/open_fds.hpp"
#include "support/processes.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace signals = skua::signal;
using skua::spawn;
using skua::task;
using skua_test::error_of;

/// Whoever started this may ignore it, as shells do for what runs in the background; that is
/// inherited, and what was there before the library came is what a forked child of ours has.
const auto ignored_no_more = ::signal(SIGINT, SIG_DFL);

class signal_streams : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, signal_streams, skua_test::every_kind(), skua_test::name_of_kind);

template <typename... Signals>
signals::stream listening(Signals... which) {
  return skua::or_throw(signals::listen(which...));
}

task<int> next_of(signals::stream& from) {
  co_return skua::or_throw(co_await from.next());
}

TEST_P(signal_streams, each_hear_of_it) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = listening(SIGUSR1);
    auto two = listening(SIGUSR1, SIGHUP);
    auto other = listening(SIGUSR2);
    auto waits = spawn(next_of(one));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(waits.done());
    ::raise(SIGUSR1);
    EXPECT_EQ(co_await std::move(waits), SIGUSR1);
    EXPECT_EQ(co_await next_of(two), SIGUSR1);
    ::raise(SIGHUP);
    EXPECT_EQ(co_await next_of(two), SIGHUP);
    EXPECT_EQ(error_of(co_await skua::timeout(2ms, one.next())), std::errc::timed_out);
    EXPECT_EQ(error_of(co_await skua::timeout(2ms, other.next())), std::errc::timed_out);
  };
  rt.block_on(body());
}

// While every thread sleeps, for as long as it would; ThreadSanitizer would keep it back.
TEST_P(signal_streams, hear_what_another_process_sends) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = listening(SIGUSR1);
    auto sender = skua_test::shell("sleep 0.05; kill -USR1 $PPID");
    auto sends = skua::or_throw(co_await sender.spawn());
    EXPECT_EQ(skua::or_throw(co_await skua::timeout(100s, one.next())), SIGUSR1);
    EXPECT_TRUE(skua::or_throw(co_await sends.wait()).success());
  };
  rt.block_on(body());
}

TEST_P(signal_streams, make_one_of_several_that_nobody_looked_at) {
  auto rt = start();
  auto body = []() -> task<> {
    auto both = listening(SIGUSR1, SIGUSR2);
    for (int i = 0; i < 5; ++i) {
      ::raise(SIGUSR2);
      ::raise(SIGUSR1);
    }
    EXPECT_EQ(co_await next_of(both), SIGUSR1);
    EXPECT_EQ(co_await next_of(both), SIGUSR2);
    EXPECT_EQ(error_of(co_await skua::timeout(2ms, both.next())), std::errc::timed_out);
    ::raise(SIGUSR2);
    EXPECT_EQ(co_await next_of(both), SIGUSR2) << "and go on";
  };
  rt.block_on(body());
}

TEST_P(signal_streams, keep_what_a_stop_or_a_lost_race_left) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = listening(SIGUSR1);
    auto stopped = spawn(next_of(one));
    co_await skua::sleep(1ms);
    stopped.abort();
    EXPECT_TRUE((co_await stopped.outcome()).stopped());
    ::raise(SIGUSR1);
    EXPECT_EQ(co_await next_of(one), SIGUSR1);

    auto two = listening(SIGUSR2);
    int heard = 0;
    for (int i = 0; i < 50; ++i) {
      auto raise_both = []() -> task<> {
        ::raise(SIGUSR1);
        ::raise(SIGUSR2);
        co_return;
      };
      auto raiser = spawn(raise_both());
      const auto first = co_await skua::select(one.next(), two.next());
      co_await std::move(raiser);
      heard += first.is<0>() ? 1 : 10;
      // The other one is still to be heard.
      heard += (co_await next_of(first.is<0>() ? two : one)) == SIGUSR1 ? 1 : 10;
    }
    EXPECT_EQ(heard, 50 * 11);
  };
  rt.block_on(body());
}

TEST_P(signal_streams, of_several_runtimes_hear_of_it) {
  std::atomic<int> heard = 0;
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto rt = start();
      auto body = [](std::atomic<int>& listens, std::atomic<int>& hears) -> task<> {
        auto one = listening(SIGUSR1);
        ++listens;
        hears += (co_await next_of(one)) == SIGUSR1 ? 1 : 0;
      };
      rt.block_on(body(ready, heard));
    });
  while (ready < 4) std::this_thread::yield();
  ::kill(::getpid(), SIGUSR1);
  for (auto& one : threads) one.join();
  EXPECT_EQ(heard, 4);
}

TEST_P(signal_streams, come_and_go_while_signals_come) {
  auto rt = start();
  auto body = []() -> task<> {
    auto keeps_handler = listening(SIGUSR1);
    const std::size_t before = skua_test::open_fds();
    std::atomic<bool> over = false;
    std::thread sender([&over] {
      while (!over) {
        ::raise(SIGUSR1);
        std::this_thread::sleep_for(100us);  // others have to do something in between
      }
    });
    for (int i = 0; i < 200; ++i) {
      auto one = listening(SIGUSR1);
      auto two = listening(SIGUSR1, SIGUSR2);
      EXPECT_EQ(co_await next_of(one), SIGUSR1);
      if (i % 2 == 0) {
        EXPECT_EQ(co_await next_of(two), SIGUSR1);
      }
    }
    over = true;
    sender.join();
    // Those that a handler was at when they went are closed when the next goes.
    EXPECT_TRUE(co_await skua_test::soon([before] {
      auto next = std::optional(listening(SIGUSR1));
      next.reset();
      return skua_test::open_fds() <= before;
    }));
  };
  rt.block_on(body());
}

TEST_P(signal_streams, refuse_what_cannot_be_heard) {
  auto rt = start();
  auto body = []() -> task<> {
    const std::size_t before = skua_test::open_fds();
    for (const int one : {0, -1, 65, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      EXPECT_EQ(error_of(signals::listen(one)), std::errc::invalid_argument) << one;
    EXPECT_EQ(error_of(signals::listen(SIGUSR1, SIGKILL)), std::errc::invalid_argument);
    {
      const skua_test::fd_limit none;
      EXPECT_EQ(error_of(signals::listen(SIGUSR1)), std::errc::too_many_files_open);
      EXPECT_EQ(error_of(co_await skua::ctrl_c()), std::errc::too_many_files_open);
    }
    EXPECT_EQ(skua_test::open_fds(), before);
  };
  rt.block_on(body());
}

// --- of the process

std::atomic<int> called = 0;

TEST(signal_handlers, that_were_there_are_still_called) {
  struct sigaction plain{};
  plain.sa_handler = [](int) { ++called; };
  ::sigaction(SIGWINCH, &plain, nullptr);
  struct sigaction with_details{};
  with_details.sa_flags = SA_SIGINFO;
  with_details.sa_sigaction = [](int, siginfo_t* about, void*) { called += about->si_signo; };
  ::sigaction(SIGURG, &with_details, nullptr);
  {
    auto both = listening(SIGWINCH, SIGURG);
    ::raise(SIGWINCH);
    ::raise(SIGURG);
  }
  EXPECT_EQ(called, 1 + SIGURG);
  ::raise(SIGWINCH);
  EXPECT_EQ(called, 2 + SIGURG) << "also when nobody listens";
}

TEST(signal_handlers, stay_when_nobody_listens_any_more) {
  {
    auto one = listening(SIGTERM);
  }
  ::raise(SIGTERM);  // would end the process
}

// A terminal sends Ctrl-C to the forked child of ours as well: it must end, and not we hear of it
// twice, by the counters that both have.
TEST(signal_handlers, let_a_forked_child_have_the_default) {
  skua_test::log_recorder log;
  auto rt = skua_test::started(skua_test::alone, log);
  auto body = []() -> task<> {
    auto one = listening(SIGINT);
    const pid_t forked = ::fork();
    if (forked == 0)
      for (;;) ::pause();
    ::kill(forked, SIGINT);
    int status = 0;
    EXPECT_EQ(::waitpid(forked, &status, 0), forked);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    EXPECT_EQ(error_of(co_await skua::timeout(3ms, one.next())), std::errc::timed_out)
        << "it was not our signal";
    ::raise(SIGINT);
    EXPECT_EQ(co_await next_of(one), SIGINT);
  };
  rt.block_on(body());
}

TEST(signal_handlers, serve_a_forked_child_that_listens_itself) {
  auto kept = listening(SIGUSR1);
  skua_test::forked child;
  if (child.fork()) {
    bool good = false;
    {
      auto rt = skua_test::started(skua_test::alone.settings());
      auto body = []() -> task<bool> {
        auto own = listening(SIGUSR1);
        ::raise(SIGUSR1);
        co_return co_await next_of(own) == SIGUSR1;
      };
      good = rt.block_on(body());
    }
    {
      auto copy = std::move(kept);
    }  // of the parent's stream: goes without a trace
    ::_exit(good ? 0 : 1);
  }
  child.join();
  EXPECT_TRUE(child.exited_well()) << child.end();
}

// The executed program has neither the handler nor a copy of the counter.
TEST(signal_handlers, are_not_inherited_by_programs) {
  skua_test::log_recorder log;
  auto rt = skua_test::started(skua_test::two_workers, log);
  auto body = []() -> task<> {
    auto one = listening(SIGINT);
    auto command = skua::process::command("sleep");
    auto made = skua::or_throw(co_await command.arg("1000").spawn());
    made.signal(SIGINT).value();
    EXPECT_EQ(skua::or_throw(co_await made.wait()).signal(), SIGINT);
    EXPECT_EQ(error_of(co_await skua::timeout(3ms, one.next())), std::errc::timed_out);
  };
  rt.block_on(body());
}

// While programs are started their child, which shares our memory, must never run our handler.
TEST(signal_handlers, never_run_between_fork_and_exec) {
  skua_test::log_recorder log;
  auto rt = skua_test::started(skua_test::two_workers, log);
  // It keeps a handler back while its thread is in a system call that it does not know.
  if (skua::built_with_tsan) GTEST_SKIP() << "ThreadSanitizer delays signals of the process";
  ::setpgid(0, 0);  // the signals are for us and our children only
  if (::getpgrp() != ::getpid()) GTEST_SKIP() << "cannot have a process group of its own";
  auto body = []() -> task<> {
    auto heard = listening(SIGUSR2);
    auto other = listening(SIGUSR1);
    std::atomic<bool> over = false;
    std::thread sender([&over] {
      while (!over) {
        ::kill(0, SIGUSR2);                  // also those who are on their way
        std::this_thread::sleep_for(100us);  // others have to do something in between
      }
    });
    for (int i = 0; i < 100; ++i)
      static_cast<void>(co_await skua::process::command("true").run());  // killed, or in time
    over = true;
    sender.join();
    EXPECT_EQ(co_await next_of(heard), SIGUSR2);
    EXPECT_EQ(error_of(co_await skua::timeout(1ms, other.next())), std::errc::timed_out);
  };
  rt.block_on(body());
}

}  // namespace
