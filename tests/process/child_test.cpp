// tests/process/child_test.cpp: every child ends, is waited for, and leaves nothing behind.
#include "skua/process/child.hpp"

#include "process/process_record.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/processes.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::spawn;
using skua::task;
using skua::process::child;
using skua::process::command;
using skua::process::exit_status;
using skua::process::stdio;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::has_no_children;
using skua_test::shell;
using skua_test::soon;

class children : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, children, skua_test::every_kind(), skua_test::name_of_kind);

task<child> started(command what) {
  co_return skua::or_throw(co_await what.spawn());
}

/// One that ends when it is killed.
task<child> sleeper() {
  co_return co_await started(std::move(command("sleep").arg("1000")));
}

task<exit_status> end_of(child& whom) {
  co_return skua::or_throw(co_await whom.wait());
}

std::optional<exit_status> end_now(child& whom) {
  return skua::or_throw(whom.try_wait());
}

TEST(exit_statuses, speak) {
  EXPECT_EQ(exit_status::exited(3).to_string(), "exit code 3");
  EXPECT_EQ(exit_status::killed(SIGABRT, true).to_string(), "signal 6 (SIGABRT), core dumped");
  EXPECT_EQ(exit_status::killed(40).to_string(), "signal 40");
  EXPECT_FALSE(exit_status::killed(SIGHUP).success());
  EXPECT_EQ(exit_status::killed(SIGHUP).code(), std::nullopt);
  EXPECT_EQ(exit_status::exited(0).signal(), std::nullopt);
}

TEST_P(children, tell_how_they_ended) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await started(shell("exit 7"));
    EXPECT_EQ(co_await end_of(one), exit_status::exited(7));
    EXPECT_EQ(co_await end_of(one), exit_status::exited(7)) << "again";
    EXPECT_EQ(end_now(one), exit_status::exited(7));
    auto other = co_await started(shell("kill -USR1 $$"));
    EXPECT_EQ(co_await end_of(other), exit_status::killed(SIGUSR1));
    EXPECT_TRUE(has_no_children());
  };
  rt.block_on(body());
}

TEST_P(children, take_signals_and_can_be_looked_at) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await sleeper();
    EXPECT_EQ(end_now(one), std::nullopt);
    EXPECT_TRUE(one.signal(0).has_value());
    EXPECT_EQ(error_of(one.signal(999)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(one.signal_group(0)), std::errc::invalid_argument) << "it leads none";
    auto waits = spawn(end_of(one));
    EXPECT_TRUE(one.signal(SIGTERM).has_value()) << "while a task waits";
    EXPECT_EQ(co_await std::move(waits), exit_status::killed(SIGTERM));
    EXPECT_EQ(error_of(one.kill()), std::errc::no_such_process);
  };
  rt.block_on(body());
}

TEST_P(children, are_waited_for_by_several) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await sleeper();
    std::vector<skua::join_handle<exit_status>> all;
    for (int i = 0; i < 8; ++i) all.push_back(spawn(end_of(one)));
    co_await skua::sleep(1ms);
    one.kill().value();
    for (auto& each : all) EXPECT_EQ(co_await std::move(each), exit_status::killed(SIGKILL));
  };
  rt.block_on(body());
}

TEST_P(children, are_fed_and_read) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await started(std::move(command("cat").in(stdio::pipe()).out(stdio::pipe())));
    EXPECT_FALSE(one.err().has_value());
    auto feed = [](skua::io::pipe_writer to) -> task<> {
      const std::string line(999, 'x');
      for (int i = 0; i < 1'000; ++i) {
        skua::or_throw(co_await to.write_all(bytes_of(line)));
      }
    };
    auto feeder = spawn(feed(std::move(*one.in())));
    const std::string all = co_await skua_test::all_of(*one.out());
    EXPECT_EQ(all.size(), 999'000U);
    co_await std::move(feeder);
    EXPECT_TRUE((co_await end_of(one)).success());
  };
  rt.block_on(body());
}

// Whoever forgets to close the input would wait for a program that waits for its end.
TEST_P(children, lose_their_input_when_they_are_waited_for) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await started(std::move(command("cat").in(stdio::pipe()).out(stdio::null())));
    EXPECT_TRUE((co_await end_of(one)).success());
  };
  rt.block_on(body());
}

TEST_P(children, by_the_thousand_leave_no_zombie) {
  auto rt = start();
  constexpr int at_once = 8;
  auto body = []() -> task<> {
    static_cast<void>(co_await command("true").run());
    const std::size_t before = skua_test::open_fds();
    auto many = [](int count) -> task<int> {
      int good = 0;
      command none("/bin/true");
      for (int i = 0; i < count; ++i) {
        const auto end = co_await none.run();
        if (end.has_value() && end->success()) ++good;
      }
      co_return good;
    };
    std::vector<skua::join_handle<int>> all;
    for (int i = 0; i < at_once; ++i) all.push_back(spawn(many(1'000 / at_once)));
    int good = 0;
    for (auto& each : all) good += co_await std::move(each);
    EXPECT_EQ(good, 1'000);
    EXPECT_TRUE(has_no_children());
    EXPECT_EQ(skua_test::open_fds(), before);
  };
  rt.block_on(body());
}

// --- dropped

TEST_P(children, are_killed_and_reaped_when_they_are_dropped) {
  auto rt = start();
  auto body = []() -> task<> {
    static_cast<void>(co_await command("true").run());
    const std::size_t before = skua_test::open_fds();
    pid_t last = 0;
    for (int i = 0; i < 20; ++i) last = (co_await sleeper()).id();
    EXPECT_TRUE(co_await soon(has_no_children));
    EXPECT_NE(::kill(last, 0), 0);
    EXPECT_TRUE(co_await soon([before] { return skua_test::open_fds() == before; }));
  };
  rt.block_on(body());
}

TEST_P(children, that_lead_a_group_take_it_along) {
  auto rt = start();
  auto body = []() -> task<> {
    auto command = shell("sleep 1000 & echo $!; wait");
    command.new_group().out(stdio::pipe());
    pid_t grandchild = 0;
    {
      auto one = co_await started(std::move(command));
      skua_test::room<32> room;
      const auto text = room.text(co_await one.out()->read(room.span()));
      grandchild = std::stoi(text);
      EXPECT_EQ(::kill(grandchild, 0), 0);
      EXPECT_TRUE(one.signal_group(0).has_value());
    }
    const auto is_dead = [grandchild] {
      // Gone, or left to the system's first process, which may take its time.
      return ::kill(grandchild, 0) != 0 || skua_test::is_zombie(grandchild);
    };
    EXPECT_TRUE(co_await soon(is_dead));
    EXPECT_TRUE(co_await soon(has_no_children));
  };
  rt.block_on(body());
}

/// Leaves the group that it leads for that of its parent, says so, and waits to be killed.
command deserter() {
  command made("python3");
  made.arg("-c").arg(
      "import os, time; os.setpgid(0, os.getpgid(os.getppid())); "
      "os.write(1, b'gone'); time.sleep(1000)");
  made.new_group();
  return made;
}

TEST_P(children, that_left_their_group_are_killed_all_the_same) {
  auto rt = start();
  auto body = []() -> task<> {
    {
      auto command = deserter();
      command.out(stdio::pipe());
      auto one = co_await started(std::move(command));
      skua_test::room<32> room;
      EXPECT_EQ(room.text(co_await one.out()->read(room.span())), "gone");
    }
    EXPECT_TRUE(co_await soon(has_no_children));
    auto late = deserter();
    EXPECT_EQ(error_of(co_await late.output(skua::process::output_options().timeout(500ms))),
              std::errc::timed_out);
    EXPECT_TRUE(co_await soon(has_no_children));
  };
  rt.block_on(body());
}

// The shell has ended when its child object is dropped, but nobody has waited for it.
TEST_P(children, that_ended_before_their_group_take_it_along) {
  auto rt = start();
  auto body = []() -> task<> {
    auto command = shell("sleep 1000 >&- & echo $!");
    command.new_group().out(stdio::pipe());
    pid_t grandchild = 0;
    {
      auto one = co_await started(std::move(command));
      const pid_t leader = one.id();
      grandchild = std::stoi(co_await skua_test::all_of(*one.out()));
      EXPECT_TRUE(co_await soon([leader] { return skua_test::is_zombie(leader); }));
      EXPECT_EQ(::kill(grandchild, 0), 0);
    }
    const auto is_dead = [grandchild] {
      return ::kill(grandchild, 0) != 0 || skua_test::is_zombie(grandchild);
    };
    EXPECT_TRUE(co_await soon(is_dead));
    EXPECT_TRUE(co_await soon(has_no_children));
  };
  rt.block_on(body());
}

TEST_P(children, that_are_left_running_run_on_and_are_reaped) {
  auto rt = start();
  auto body = []() -> task<> {
    pid_t first = 0;
    pid_t second = 0;
    {
      auto one = co_await started(std::move(command("sleep").arg("1000").kill_on_drop(false)));
      auto two = co_await sleeper();
      two.leave_running();
      first = one.id();
      second = two.id();
    }
    co_await skua::sleep(2ms);
    EXPECT_EQ(::kill(first, 0), 0);
    EXPECT_EQ(::kill(second, 0), 0);
    ::kill(first, SIGKILL);
    ::kill(second, SIGKILL);
    EXPECT_TRUE(co_await soon(has_no_children));
  };
  rt.block_on(body());
}

TEST_P(children, outlive_their_runtime_as_orphans_that_the_next_one_takes) {
  pid_t id = 0;
  std::optional<child> outside;
  {
    auto rt = start();
    auto body = [](pid_t& number, std::optional<child>& kept) -> task<> {
      auto one = co_await sleeper();
      one.leave_running();
      number = one.id();
      kept.emplace(co_await sleeper());
    };
    rt.block_on(body(id, outside));
  }
  EXPECT_EQ(skua::count_orphans(), 1U);
  outside.reset();  // killed, and left to the next as well, if it is not gone at once
  EXPECT_GE(skua::count_orphans(), 1U);
  EXPECT_EQ(::kill(id, 0), 0);
  auto rt = start();
  auto body = [](pid_t number) -> task<> {
    static_cast<void>(co_await command("true").run());
    EXPECT_EQ(skua::count_orphans(), 0U) << "adopted";
    ::kill(number, SIGKILL);
    EXPECT_TRUE(co_await soon(has_no_children));
  };
  rt.block_on(body(id));
}

TEST_P(children, are_left_alone_by_a_forked_copy) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await sleeper();
    const pid_t copy = ::fork();
    if (copy == 0) {
      one.~child();
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(copy, &status, 0), copy);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(end_now(one), std::nullopt);
    EXPECT_EQ(::kill(one.id(), 0), 0);
  };
  rt.block_on(body());
}

// --- stopped, raced, robbed

TEST_P(children, survive_a_wait_that_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await sleeper();
    for (int i = 0; i < 20; ++i) {
      auto waits = spawn(end_of(one));
      for (int k = 0; k < i % 4; ++k) co_await skua::yield();
      waits.abort();
      const auto end = co_await waits.outcome();
      EXPECT_TRUE(end.stopped());
    }
    EXPECT_EQ(error_of(co_await skua::timeout(1ms, one.wait())), std::errc::timed_out);
    one.kill().value();
    EXPECT_EQ(co_await end_of(one), exit_status::killed(SIGKILL));
  };
  rt.block_on(body());
}

TEST_P(children, are_not_left_behind_by_a_start_that_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    auto start_and_wait = []() -> task<> {
      auto one = co_await sleeper();
      static_cast<void>(co_await one.wait());
    };
    for (int i = 0; i < 40; ++i) {
      auto starts = spawn(start_and_wait());
      for (int k = 0; k < i % 8; ++k) co_await skua::yield();
      if (i % 3 == 0) co_await skua::sleep(1ms);
      starts.abort();
      const auto end = co_await starts.outcome();
      EXPECT_TRUE(end.stopped());
    }
    EXPECT_TRUE(co_await soon(has_no_children));
  };
  rt.block_on(body());
}

TEST_P(children, whose_end_another_took_are_no_children) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = co_await started(command("true"));
    EXPECT_EQ(::waitpid(one.id(), nullptr, 0), one.id());
    EXPECT_EQ(error_of(co_await one.wait()), std::errc::no_child_process);
    EXPECT_EQ(error_of(one.try_wait()), std::errc::no_child_process);
    auto group = shell("sleep 1000 >&- & echo $!");
    group.new_group().out(stdio::pipe());
    auto leader = co_await started(std::move(group));
    const pid_t member = std::stoi(co_await skua_test::all_of(*leader.out()));
    EXPECT_EQ(::waitpid(leader.id(), nullptr, 0), leader.id());
    EXPECT_EQ(error_of(leader.signal_group(SIGKILL)), std::errc::no_such_process)
        << "the number may be that of another's group";
    EXPECT_EQ(::kill(member, SIGKILL), 0);
    auto other = co_await sleeper();
    auto waits = spawn(
        [](child& whom) -> task<skua::result<exit_status>> { co_return co_await whom.wait(); },
        std::ref(other));
    co_await skua::sleep(1ms);
    other.kill().value();
    ::waitpid(other.id(), nullptr, 0);  // one of the two has it
    const auto end = co_await std::move(waits);
    EXPECT_TRUE(end.has_value() || end.error() == std::errc::no_child_process);
  };
  rt.block_on(body());
}

// --- without a pidfd

TEST_P(children, are_waited_for_by_signal_where_there_is_no_pidfd) {
  auto rt = start();
  auto body = []() -> task<> {
    auto pipe = skua::or_throw(skua::io::pipe());
    const pid_t id = ::fork();
    if (id == 0) {
      char byte = 0;
      ::close(pipe.writer.get());
      ::_exit(::read(pipe.reader.get(), &byte, 1) == 1 ? 5 : 6);
    }
    skua::process_record record;
    record.started(id, skua::unique_fd(), false);
    auto wait = [](skua::process_record& of) -> task<exit_status> {
      co_return skua::or_throw(co_await of.wait());
    };
    auto waits = spawn(wait(record));
    auto stopped = spawn(wait(record));
    co_await skua::sleep(2ms);
    EXPECT_FALSE(waits.done());
    stopped.abort();
    EXPECT_TRUE((co_await stopped.outcome()).stopped());
    EXPECT_TRUE(record.send(0).has_value());
    skua::or_throw(co_await pipe.writer.write_all(bytes_of("x")));
    EXPECT_EQ(co_await std::move(waits), exit_status::exited(5));
    EXPECT_EQ(error_of(record.send(SIGKILL)), std::errc::no_such_process) << "another's number";
  };
  rt.block_on(body());
}

}  // namespace
