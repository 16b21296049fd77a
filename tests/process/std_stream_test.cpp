// tests/process/std_stream_test.cpp: standard streams of every kind, which others share.
#include "skua/process/std_stream.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/processes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace process = skua::process;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::pipe_pair;
using skua_test::room;

class std_streams : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, std_streams, skua_test::every_kind(), skua_test::name_of_kind);

/// Another file is a standard stream of this process for a while.
class replaced {
public:
  replaced(int number, int by) : number_(number), before_(::fcntl(number, F_DUPFD_CLOEXEC, 100)) {
    ::dup2(by, number);
  }
  replaced(const replaced&) = delete;
  replaced& operator=(const replaced&) = delete;
  ~replaced() { ::dup2(before_.get(), number_); }

private:
  int number_;
  unique_fd before_;
};

/// A terminal: what a user types at `user` is read at `program`.
class terminal {
public:
  terminal() {
    int both[2] = {-1, -1};
    EXPECT_EQ(::openpty(&both[0], &both[1], nullptr, nullptr, nullptr), 0);
    user_.reset(both[0]);
    program_.reset(both[1]);
    termios how{};
    ::tcgetattr(both[1], &how);
    how.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    how.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(both[1], TCSANOW, &how);
  }
  [[nodiscard]] int user() const { return user_.get(); }
  [[nodiscard]] int program() const { return program_.get(); }
  void type(std::string_view text) const {
    EXPECT_EQ(::write(user(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

private:
  unique_fd user_;
  unique_fd program_;
};

bool blocks(int fd) {
  return (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

process::std_reader input() {
  return skua::or_throw(process::stdin_stream());
}

task<std::string> next_line(skua::framed<process::std_reader>& from) {
  const auto line = skua::or_throw(co_await from.next());
  co_return line ? std::string(line->text()) : "END";
}

TEST_P(std_streams, read_lines_from_a_pipe) {
  pipe_pair pipe;
  const replaced in(STDIN_FILENO, pipe.out());
  auto rt = start();
  auto body = [](pipe_pair& from) -> task<> {
    auto reader = input();
    skua::framed lines(reader, skua::framing::lines());
    auto first = spawn(next_line(lines));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(first.done());
    co_await skua::io::write(from.in(), bytes_of("one\ntwo\nthree"));
    EXPECT_EQ(co_await std::move(first), "one");
    EXPECT_EQ(co_await next_line(lines), "two");
    from.close_in();
    EXPECT_EQ(co_await next_line(lines), "three");
    EXPECT_EQ(co_await next_line(lines), "END");
    EXPECT_TRUE(blocks(STDIN_FILENO));
  };
  rt.block_on(body(pipe));
}

TEST_P(std_streams, read_from_files_and_from_nothing) {
  const skua_test::temp_directory place;
  std::ofstream(place / "file") << "some text";
  const unique_fd file(::open((place / "file").c_str(), O_RDONLY | O_CLOEXEC));
  const unique_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  auto rt = start();
  auto body = [](int from, int nothing) -> task<> {
    room<4> some;
    {
      const replaced in(STDIN_FILENO, from);
      const auto reader = input();
      EXPECT_EQ(some.text(co_await reader.read(some.span())), "some");
      EXPECT_EQ(::lseek(STDIN_FILENO, 0, SEEK_CUR), 4)
          << "the position is that of all who share it";
      EXPECT_EQ(some.text(co_await reader.read(some.span())), " tex");
      EXPECT_EQ(some.text(co_await reader.read(some.span())), "t");
      EXPECT_EQ(some.text(co_await reader.read(some.span())), "");
    }
    const replaced in(STDIN_FILENO, nothing);
    const auto reader = input();
    EXPECT_EQ(some.text(co_await reader.read(some.span())), "");
  };
  rt.block_on(body(file.get(), null.get()));
}

TEST_P(std_streams, read_from_a_terminal_and_leave_it_as_it_is) {
  const terminal typed;
  const replaced in(STDIN_FILENO, typed.program());
  auto rt = start();
  auto body = [](const terminal& at) -> task<> {
    const std::size_t before = skua_test::open_fds();
    {
      const auto dropped = input();
    }
    EXPECT_EQ(skua_test::open_fds(), before);
    auto reader = input();
    skua::framed lines(reader, skua::framing::lines());
    auto first = spawn(next_line(lines));
    co_await skua::sleep(1ms);
    EXPECT_TRUE(blocks(STDIN_FILENO)) << "for the shell that shares it, say";
    EXPECT_FALSE(first.done());
    at.type("hello\n");
    EXPECT_EQ(co_await std::move(first), "hello");
    at.type("\x04");  // Ctrl-D
    EXPECT_EQ(co_await next_line(lines), "END");
    EXPECT_TRUE(blocks(at.program()));
  };
  rt.block_on(body(typed));
  EXPECT_TRUE(::fcntl(STDIN_FILENO, F_GETFD) >= 0) << "it is open when the reader is gone";
}

// Nobody types anything. Neither a stop nor the end of the runtime waits for a key.
TEST_P(std_streams, do_not_hold_up_the_end) {
  const terminal silent;
  const pipe_pair quiet;
  for (const int from : {silent.program(), quiet.out()}) {
    const replaced in(STDIN_FILENO, from);
    auto rt = start();
    auto read = []() -> task<> {
      const auto reader = input();
      room<8> some;
      static_cast<void>(co_await reader.read(some.span()));
    };
    auto body = [](task<> reads) -> task<> {
      auto stopped = spawn(std::move(reads));
      co_await skua::sleep(1ms);
      EXPECT_FALSE(stopped.done());
      stopped.abort();
      EXPECT_TRUE((co_await stopped.outcome()).stopped());
      room<8> some;
      const auto reader = input();
      EXPECT_EQ(error_of(co_await skua::timeout(1ms, reader.read(some.span()))),
                std::errc::timed_out);
    };
    rt.block_on(body(read()));
    auto left = rt.spawn(read());
    EXPECT_TRUE(rt.shutdown(60s).complete());
  }
}

TEST_P(std_streams, write_to_pipes_files_and_terminals) {
  const skua_test::temp_directory place;
  const unique_fd file(::open((place / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const terminal screen;
  pipe_pair pipe;
  const std::string much(300'000, 'x');
  auto rt = start();
  auto body = [](int to_file, const terminal& at, pipe_pair& through,
                 std::string_view text) -> task<> {
    {
      const replaced out(STDERR_FILENO, to_file);
      const auto writer = skua::or_throw(process::stderr_stream());
      EXPECT_TRUE((co_await writer.write_all(bytes_of(text))).has_value());
    }
    {
      const replaced out(STDERR_FILENO, at.program());
      const auto writer = skua::or_throw(process::stderr_stream());
      EXPECT_TRUE((co_await writer.write_all(bytes_of("screen"))).has_value());
      EXPECT_TRUE(blocks(STDERR_FILENO));
    }
    auto write = [](const process::std_writer& to, std::string_view what) -> task<> {
      skua::or_throw(co_await to.write_all(bytes_of(what)));
    };
    std::optional<process::std_writer> writer;
    {
      const replaced out(STDERR_FILENO, through.in());
      writer.emplace(skua::or_throw(process::stderr_stream()));
    }
    through.close_in();
    auto writes = spawn(write(*writer, text));
    std::vector<std::byte> some(10'000);
    std::size_t all = 0;
    while (all < text.size()) all += skua::or_throw(co_await skua::io::read(through.out(), some));
    co_await std::move(writes);
    EXPECT_EQ(all, text.size());
    through.close_out();
    EXPECT_EQ(error_of(co_await writer->write_all(bytes_of("x"))), std::errc::broken_pipe);
  };
  rt.block_on(body(file.get(), screen, pipe, much));
  char seen[16] = {};
  EXPECT_EQ(::read(screen.user(), seen, sizeof seen), 6);
  EXPECT_STREQ(seen, "screen");
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), static_cast<off_t>(much.size()));
}

TEST_P(std_streams, that_are_closed_say_so) {
  auto rt = start();
  auto body = []() -> task<> {
    const unique_fd kept(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100));
    ::close(STDIN_FILENO);
    EXPECT_EQ(error_of(process::stdin_stream()), std::errc::bad_file_descriptor);
    // A program that is started now must not get one of its own pipes as an input.
    const auto said = skua::or_throw(
        co_await skua_test::shell("[ -e /proc/self/fd/0 ] || echo closed; echo x >&2")
            .in(process::stdio::inherit())
            .output());
    EXPECT_EQ(said.out, "closed\n");
    EXPECT_EQ(said.err, "x\n");
    ::dup2(kept.get(), STDIN_FILENO);
    EXPECT_TRUE(process::stdout_stream().has_value());
  };
  rt.block_on(body());
}

}  // namespace
