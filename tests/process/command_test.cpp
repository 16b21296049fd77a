// tests/process/command_test.cpp: a program gets what the command says, and nothing else.
#include "skua/process/command.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/open_fds.hpp"
#include "support/processes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_limit.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::task;
using skua::unique_fd;
using skua::process::command;
using skua::process::spawn_step;
using skua::process::stdio;
using skua_test::error_of;
using skua_test::shell;

class commands : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, commands, skua_test::every_kind(), skua_test::name_of_kind);

/// What it writes to its standard output; it ends well.
task<std::string> said_by(command& what) {
  const auto all = skua::or_throw(co_await what.output());
  EXPECT_TRUE(all.status.success()) << all.status.to_string() << ": " << all.err;
  co_return all.out;
}
task<std::string> said_by(command&& what) {
  command own = std::move(what);
  co_return co_await said_by(own);
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The word of /proc/self/status that follows `field`, in a child.
task<std::string> status_word(command what, std::string field) {
  what.arg("-c").arg("while read a b; do [ $a = " + field +
                     ": ] && echo $b; done < /proc/self/status; true");
  std::string text = co_await said_by(what);
  co_return text.substr(0, text.find('\n'));
}

TEST_P(commands, give_their_arguments) {
  auto rt = start();
  auto body = []() -> task<> {
    const std::vector<std::string> more = {"b  c", "$HOME", ""};
    auto echo = command("printf");
    echo.arg("<%s>").arg("a").args(more);
    EXPECT_EQ(co_await said_by(echo), "<a><b  c><$HOME><>");
    EXPECT_EQ(co_await said_by(echo), "<a><b  c><$HOME><>") << "once more";
  };
  rt.block_on(body());
}

TEST_P(commands, give_the_environment_as_changed) {
  ::setenv("SKUA_TEST_KEPT", "kept", 1);
  ::setenv("SKUA_TEST_REMOVED", "there", 1);
  auto rt = start();
  auto body = []() -> task<> {
    auto print = shell("echo $SKUA_TEST_KEPT:$SKUA_TEST_SET:${SKUA_TEST_REMOVED-none}");
    print.env("SKUA_TEST_SET", "first").env("SKUA_TEST_SET", "a=b").env_remove("SKUA_TEST_REMOVED");
    EXPECT_EQ(co_await said_by(print), "kept:a=b:none\n");
    command list("env");
    list.env("GONE", "1").env_clear().env("PATH", "/usr/bin:/bin").env("ONLY", "this");
    EXPECT_EQ(co_await said_by(list), "PATH=/usr/bin:/bin\nONLY=this\n");
  };
  rt.block_on(body());
}

TEST_P(commands, run_in_their_directory) {
  const skua_test::temp_directory place;
  auto rt = start();
  auto body = [](const skua_test::temp_directory& in) -> task<> {
    std::ofstream(in / "tool") << "#!/bin/sh\npwd\n";
    ::chmod((in / "tool").c_str(), 0755);
    EXPECT_EQ(co_await said_by(std::move(shell("pwd").directory(in.path()))), in.path() + "\n");
    auto relative = command("./tool");
    relative.directory(in.path());
    EXPECT_EQ(co_await said_by(relative), in.path() + "\n") << "begins in the new directory";
    auto searched = command("tool");
    searched.env("PATH", in.path() + ":/usr/bin:/bin");
    EXPECT_NE(co_await said_by(searched), "") << "found by the path that the program gets";
  };
  rt.block_on(body(place));
}

TEST_P(commands, connect_streams_to_files_and_descriptors) {
  const skua_test::temp_directory place;
  auto rt = start();
  auto body = [](const skua_test::temp_directory& in) -> task<> {
    std::ofstream(in / "from") << "text";
    for (int i = 0; i < 2; ++i) {
      auto copy = shell("cat; echo oops >&2");
      copy.in(stdio::read_from(in / "from")).out(stdio::write_to(in / "to"));
      copy.err(stdio::append_to(in / "log"));
      EXPECT_TRUE(skua::or_throw(co_await copy.run()).success());
    }
    EXPECT_EQ(content_of(in / "to"), "text");
    EXPECT_EQ(content_of(in / "log"), "oops\noops\n");

    auto both = shell("echo one; echo two >&2");
    both.err(stdio::same_as_out());
    EXPECT_EQ(co_await said_by(both), "one\ntwo\n");

    const unique_fd file(::open((in / "from").c_str(), O_RDONLY | O_CLOEXEC));
    auto borrows = shell("cat");
    borrows.in(stdio::borrow(file.get()));
    EXPECT_EQ(co_await said_by(borrows), "text");
    EXPECT_EQ(co_await said_by(borrows), "") << "the same open file, at its end";
  };
  rt.block_on(body(place));
}

TEST_P(commands, give_a_descriptor_away) {
  auto rt = start();
  auto body = []() -> task<> {
    auto pipe = skua::or_throw(skua::io::pipe());
    auto extra = skua::or_throw(skua::io::pipe());
    auto writer = shell("echo through; echo beside >&7");
    writer.out(stdio::give(pipe.writer.release())).give(extra.writer.release(), 7);
    auto one = skua::or_throw(co_await writer.spawn());
    EXPECT_EQ(co_await skua_test::all_of(pipe.reader), "through\n") << "it ends: we have no copy";
    EXPECT_EQ(co_await skua_test::all_of(extra.reader), "beside\n");
    EXPECT_TRUE(skua::or_throw(co_await one.wait()).success());
    const auto again = co_await writer.spawn();
    EXPECT_EQ(error_of(again), std::errc::bad_file_descriptor) << "it is good for one start";
  };
  rt.block_on(body());
}

TEST_P(commands, make_a_pipeline) {
  auto rt = start();
  auto body = []() -> task<> {
    auto between = skua::or_throw(skua::io::pipe());
    auto first = shell("printf '3\\n1\\n2\\n'");
    auto second = command("sort");
    first.out(stdio::give(between.writer.release()));
    second.in(stdio::give(between.reader.release()));
    auto one = skua::or_throw(co_await first.spawn());
    EXPECT_EQ(co_await said_by(second), "1\n2\n3\n");
    EXPECT_TRUE(skua::or_throw(co_await one.wait()).success());
  };
  rt.block_on(body());
}

// Descriptors that others forgot to protect are not leaked either.
TEST_P(commands, leak_no_descriptor) {
  const unique_fd careless(::open("/dev/null", O_RDONLY));
  const unique_fd far(::fcntl(careless.get(), F_DUPFD, 500));
  auto rt = start();
  auto body = [](int number) -> task<> {
    const std::string list = "for f in /proc/self/fd/*; do echo ${f##*/}; done";
    // The shell itself reads the directory.
    EXPECT_EQ(co_await said_by(shell(list)), "0\n1\n2\n3\n");
    auto keeps = shell("[ -e /proc/self/fd/" + std::to_string(number) + " ] && echo yes");
    keeps.keep_descriptors();
    EXPECT_EQ(co_await said_by(keeps), "yes\n");
  };
  rt.block_on(body(careless.get()));
}

// Each is where the other is to be.
TEST_P(commands, put_descriptors_in_each_others_place) {
  const skua_test::temp_directory place;
  auto rt = start();
  auto body = [](const skua_test::temp_directory& in) -> task<> {
    const unique_fd saved_out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
    const unique_fd saved_err(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10));
    const unique_fd one(::open((in / "one").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const unique_fd two(::open((in / "two").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ::dup2(one.get(), STDOUT_FILENO);
    ::dup2(two.get(), STDERR_FILENO);
    auto swaps = shell("echo out; echo err >&2");
    swaps.out(stdio::borrow(STDERR_FILENO)).err(stdio::borrow(STDOUT_FILENO));
    const auto end = co_await swaps.run();
    ::dup2(saved_out.get(), STDOUT_FILENO);
    ::dup2(saved_err.get(), STDERR_FILENO);
    EXPECT_TRUE(skua::or_throw(end).success());
    EXPECT_EQ(content_of(in / "one"), "err\n");
    EXPECT_EQ(content_of(in / "two"), "out\n");
  };
  rt.block_on(body(place));
}

TEST_P(commands, leave_no_descriptor_here) {
  auto rt = start();
  auto body = []() -> task<> {
    static_cast<void>(co_await command("true").run());  // what the runtime keeps
    const std::size_t before = skua_test::open_fds();
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(co_await shell("echo; echo >&2").output());
      static_cast<void>(co_await command("/nonexistent").output());
      static_cast<void>(co_await command("true").in(stdio::read_from("/nonexistent")).spawn());
    }
    EXPECT_EQ(skua_test::open_fds(), before);
  };
  rt.block_on(body());
}

TEST_P(commands, start_programs_with_clean_signals) {
  auto rt = start();
  auto body = []() -> task<> {
    // Of a thread that blocks a signal, in a process that ignores two and handles one.
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGUSR2, SIG_IGN);
    ::signal(SIGUSR1, [](int) {});
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGWINCH);
    ::pthread_sigmask(SIG_BLOCK, &some, nullptr);
    EXPECT_EQ(co_await status_word(command("/bin/sh"), "SigBlk"), "0000000000000000");
    const std::string ignored = co_await status_word(command("/bin/sh"), "SigIgn");
    const auto bits = std::strtoull(ignored.c_str(), nullptr, 16);
    EXPECT_EQ(bits & 1ULL << (SIGPIPE - 1), 0U) << "a filter has to end with its reader";
    EXPECT_NE(bits & 1ULL << (SIGUSR2 - 1), 0U) << "as nohup has it";
    EXPECT_EQ(bits & 1ULL << (SIGUSR1 - 1), 0U);
    ::pthread_sigmask(SIG_UNBLOCK, &some, nullptr);
    for (const int one : {SIGPIPE, SIGUSR1, SIGUSR2}) ::signal(one, SIG_DFL);
  };
  rt.block_on(body());
}

TEST_P(commands, set_group_session_and_mask) {
  auto rt = start();
  auto body = []() -> task<> {
    const std::string ids = "read p c s pp g ses rest < /proc/self/stat; echo $p $g $ses";
    std::istringstream same(co_await said_by(shell(ids)));
    std::istringstream grouped(co_await said_by(std::move(shell(ids).new_group())));
    std::istringstream alone(co_await said_by(std::move(shell(ids).new_session())));
    std::istringstream both(co_await said_by(std::move(shell(ids).new_session().new_group())));
    pid_t id = 0;
    pid_t group = 0;
    pid_t session = 0;
    same >> id >> group >> session;
    EXPECT_EQ(group, ::getpgrp());
    EXPECT_EQ(session, ::getsid(0));
    grouped >> id >> group >> session;
    EXPECT_EQ(group, id);
    EXPECT_EQ(session, ::getsid(0));
    for (std::istringstream* one : {&alone, &both}) {
      *one >> id >> group >> session;
      EXPECT_EQ(group, id);
      EXPECT_EQ(session, id);
    }
    EXPECT_EQ(co_await said_by(std::move(shell("umask").umask(0027))), "0027\n");
  };
  rt.block_on(body());
}

TEST_P(commands, set_the_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto rt = start();
  auto body = []() -> task<> {
    const std::string who = "id -u; id -g; id -G";
    auto nobody = shell(who);
    nobody.user(65534).group(65534);
    EXPECT_EQ(co_await said_by(nobody), "65534\n65534\n65534\n") << "and no group of root's";
    nobody.groups({7, 8});
    EXPECT_EQ(co_await said_by(nobody), "65534\n65534\n65534 7 8\n");
    EXPECT_EQ(::geteuid(), 0U) << "this process is what it was";
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1) << "and may still be looked at by a debugger";
    auto other = shell("true");
    other.user(65534).group(65534).join_group(1);
    const auto no = co_await other.spawn();
    EXPECT_EQ(skua::process::step_of(error_of(no)), spawn_step::group);
  };
  rt.block_on(body());
}

// --- what goes wrong

task<> expect_failure(command what, std::errc why, spawn_step at) {
  const auto made = co_await what.spawn();
  const std::error_code error = error_of(made);
  EXPECT_EQ(error, why) << error.message();
  EXPECT_EQ(skua::process::step_of(error), at) << error.message();
}

TEST_P(commands, say_why_they_fail) {
  const skua_test::temp_directory place;
  std::ofstream(place / "plain") << "no program";
  std::ofstream(place / "broken") << "no format";
  ::chmod((place / "broken").c_str(), 0755);
  auto rt = start();
  auto body = [](const skua_test::temp_directory& in) -> task<> {
    using enum std::errc;
    co_await expect_failure(command("/no/such"), no_such_file_or_directory, spawn_step::program);
    co_await expect_failure(command("skua-no-such"), no_such_file_or_directory,
                            spawn_step::program);
    co_await expect_failure(command(""), no_such_file_or_directory, spawn_step::program);
    co_await expect_failure(command(in / "plain"), permission_denied, spawn_step::program);
    co_await expect_failure(command(in / "broken"), executable_format_error, spawn_step::program);
    co_await expect_failure(command(in.path()), permission_denied, spawn_step::program);
    co_await expect_failure(std::move(command("true").directory("/no/such")),
                            no_such_file_or_directory, spawn_step::working_directory);
    co_await expect_failure(std::move(command("true").directory(in / "plain")), not_a_directory,
                            spawn_step::working_directory);
    co_await expect_failure(std::move(command("true").out(stdio::write_to("/no/such"))),
                            no_such_file_or_directory, spawn_step::streams);
    co_await expect_failure(std::move(command("true").out(stdio::borrow(999'999))),
                            bad_file_descriptor, spawn_step::streams);
    co_await expect_failure(
        std::move(command("true").in(stdio::read_from(std::string("/dev/null\0b", 11)))),
        invalid_argument, spawn_step::streams);
    co_await expect_failure(std::move(command("true").arg(std::string("a\0b", 3))),
                            invalid_argument, spawn_step::arguments);
    co_await expect_failure(std::move(command("true").env("A=B", "c")), invalid_argument,
                            spawn_step::arguments);
    co_await expect_failure(std::move(command("true").arg(std::string(1 << 22, 'x'))),
                            argument_list_too_long, spawn_step::program);
    const auto error = error_of(co_await command("true").directory("/no/such").spawn());
    EXPECT_EQ(error.message(), "working directory: No such file or directory");
    EXPECT_TRUE(skua_test::has_no_children()) << "what failed is gone";
  };
  rt.block_on(body(place));
}

TEST_P(commands, are_looked_for_beyond_what_may_not_be_executed) {
  const skua_test::temp_directory place;
  for (const char* const name : {"plain", "good"}) ::mkdir((place / name).c_str(), 0755);
  std::ofstream(place / "plain/program") << "no program";
  std::ofstream(place / "good/program") << "#!/bin/sh\necho found\n";
  ::chmod((place / "good/program").c_str(), 0755);
  auto rt = start();
  auto body = [](const skua_test::temp_directory& in) -> task<> {
    command found("program");
    found.env("PATH", in / "plain" + ":" + in / "good");
    EXPECT_EQ(co_await said_by(found), "found\n");
    command denied("program");
    denied.env("PATH", in / "plain" + ":" + in.path());
    co_await expect_failure(std::move(denied), std::errc::permission_denied, spawn_step::program);
  };
  rt.block_on(body(place));
}

TEST_P(commands, report_that_there_is_no_thread) {
  auto rt = start();
  auto body = []() -> task<> {
    const skua_test::thread_limit first(1);
    co_await expect_failure(command("true"), std::errc::resource_unavailable_try_again,
                            spawn_step::process);
    EXPECT_TRUE(first.reached());
  };
  rt.block_on(body());
}

TEST_P(commands, report_that_there_is_no_descriptor) {
  auto rt = start();
  auto body = []() -> task<> {
    static_cast<void>(co_await command("true").run());
    auto piped = shell("echo");
    for (std::size_t left = 0; left < 4; ++left) {
      std::error_code error;
      {
        const skua_test::fd_limit limit(left);
        error = error_of(co_await piped.output());
      }
      EXPECT_EQ(error, std::errc::too_many_files_open) << left;
    }
    EXPECT_EQ(co_await said_by(piped), "\n");
  };
  rt.block_on(body());
}

}  // namespace
