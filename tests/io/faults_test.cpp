// tests/io/faults_test.cpp: each operation of a program fails once: no hang, no leak, no crash.
#include "skua/runtime/fail_each_operation.hpp"
#include "skua/skua.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::or_return;
using skua::result;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::open_fds;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::started;

class faults : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::config with(skua::fault_plan& plan) {
    skua::config settings = settings_of(GetParam(), log);
    settings.faults = &plan;
    return settings;
  }
};
INSTANTIATE_TEST_SUITE_P(every, faults, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(faults, come_to_the_operation_that_was_named) {
  skua::fault_plan plan;
  plan.fail(2, std::errc::io_error);
  auto rt = started(with(plan));
  auto body = []() -> task<> {
    EXPECT_TRUE((co_await io::nop()).has_value());
    EXPECT_EQ((co_await io::nop()).error(), std::errc::io_error);
    EXPECT_TRUE((co_await io::nop()).has_value());
  };
  rt.block_on(body());
  EXPECT_EQ(plan.begun(), 3U);
  EXPECT_EQ(plan.happened(), 1U);
}

TEST_P(faults, leave_what_was_not_done_undone) {
  skua::fault_plan plan;
  plan.fail(2, std::errc::interrupted);
  auto rt = started(with(plan));
  auto body = []() -> task<> {
    pipe_pair pipe;
    room<8> into;
    co_await io::write(pipe.in(), bytes_of("once"));
    EXPECT_EQ((co_await io::read(pipe.out(), into.span())).error(), std::errc::interrupted);
    EXPECT_EQ(into.text(co_await io::read(pipe.out(), into.span())), "once");
  };
  rt.block_on(body());
}

TEST_P(faults, can_be_short_reads_and_writes) {
  skua::fault_plan plan;
  plan.shorten(1, 2);
  plan.shorten(2, 1);
  auto rt = started(with(plan));
  auto body = []() -> task<> {
    pipe_pair pipe;
    room<8> into;
    EXPECT_EQ((co_await io::write(pipe.in(), bytes_of("abcd"))).value_or(0), 2U);
    EXPECT_EQ(into.text(co_await io::read(pipe.out(), into.span())), "a");
    EXPECT_EQ(into.text(co_await io::read(pipe.out(), into.span())), "b");
  };
  rt.block_on(body());
}

TEST_P(faults, can_be_late) {
  skua::fault_plan plan;
  plan.delay(1, 20ms);
  auto rt = started(with(plan));
  auto body = []() -> task<> {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE((co_await io::nop()).has_value());
    EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
  };
  rt.block_on(body());
}

TEST_P(faults, can_be_stopped_and_timed_out) {
  skua::fault_plan plan;
  plan.shorten(1, 1);
  plan.shorten(2, 1);
  plan.delay(3, 1ms);
  auto rt = started(with(plan));
  auto body = []() -> task<> {
    pipe_pair pipe;
    room<8> into;
    const auto got = co_await skua::timeout(1ms, io::read(pipe.out(), into.span()));
    EXPECT_EQ(got.error(), std::errc::timed_out);
    auto reads = [](int fd) -> task<> {
      room<8> unused;
      co_await io::read(fd, unused.span());
    };
    for (int i = 0; i < 2; ++i) {
      auto reader = spawn(reads(pipe.out()));
      co_await skua::sleep(2ms);
      reader.abort();
      EXPECT_TRUE((co_await reader.outcome()).stopped());
    }
  };
  rt.block_on(body());
}

TEST_P(faults, can_be_an_overflow_of_completions) {
  skua::fault_plan plan;
  for (std::uint64_t i = 1; i < 20; ++i) plan.crowd(i, 200);
  skua::config settings = with(plan);
  settings.ring_submissions = 8;
  settings.ring_completions = 16;
  auto rt = started(settings);
  auto body = []() -> task<> {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE((co_await io::nop()).has_value());
  };
  rt.block_on(body());
  EXPECT_EQ(plan.happened(), 19U);
}

// A small service: a file, a listener, two clients, each with timeouts. None of them passes: who
// ends early ends the wait of those who would wait for it in vain.
constexpr auto patience = 60s;

/// At the end of its scope nobody waits at the listener any more, on either side.
class closes_door {
public:
  explicit closes_door(int fd) : fd_(fd) {}
  closes_door(const closes_door&) = delete;
  closes_door& operator=(const closes_door&) = delete;
  ~closes_door() { ::shutdown(fd_, SHUT_RDWR); }

private:
  int fd_;
};

unique_fd listener() {
  unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(::listen(made.get(), 16), 0);
  return made;
}

task<result<void>> answers(unique_fd peer) {
  room<64> buffer;
  const std::size_t got =
      co_await or_return(co_await skua::timeout(patience, io::recv(peer.get(), buffer.span())));
  const auto text = std::span<const std::byte>(buffer.span()).first(got);
  co_await or_return(co_await io::send(peer.get(), text));
  co_await or_return(co_await io::shutdown(peer.get(), SHUT_WR));
  co_return co_await io::close(std::move(peer));
}

task<result<void>> serves(int fd, int count) {
  std::vector<skua::join_handle<result<void>>> all;
  {
    const closes_door at_the_end(fd);
    for (int i = 0; i < count; ++i) {
      auto peer = co_await skua::timeout(patience, io::accept(fd));
      if (!peer) break;
      all.push_back(spawn(answers(std::move(*peer))));
    }
  }
  for (auto& one : all) co_await std::move(one);
  co_return result<void>();
}

task<result<void>> asks(int to) {
  sockaddr_in at{};
  socklen_t length = sizeof at;
  ::getsockname(to, reinterpret_cast<sockaddr*>(&at), &length);
  const unique_fd mine(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  co_await or_return(
      co_await io::connect(mine.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at));
  co_await or_return(co_await io::send(mine.get(), bytes_of("question")));
  room<64> buffer;
  co_await or_return(co_await skua::timeout(patience, io::recv(mine.get(), buffer.span())));
  co_return result<void>();
}

task<result<void>> keeps_a_file(const char* path) {
  unique_fd file = co_await or_return(co_await io::open(path, O_RDWR | O_CREAT, 0600));
  co_await or_return(co_await io::write(file.get(), bytes_of("kept"), 0));
  co_await or_return(co_await io::fdatasync(file.get()));
  struct ::statx about{};
  co_await or_return(co_await io::statx(path, 0, STATX_SIZE, about));
  room<8> into;
  co_await or_return(co_await io::read(file.get(), into.span(), 0));
  co_await or_return(co_await io::close(std::move(file)));
  co_return co_await io::unlink(path);
}

task<> service(const char* path) {
  const unique_fd door = listener();
  auto server = spawn(serves(door.get(), 2));
  auto file = spawn(keeps_a_file(path));
  auto first = spawn(asks(door.get()));
  auto second = spawn(asks(door.get()));
  co_await std::move(first);
  co_await std::move(second);
  co_await std::move(file);
  {
    const closes_door now(door.get());
  }
  co_await std::move(server);
}

TEST_P(faults, of_every_operation_of_a_service_leave_nothing_behind) {
  std::string directory = "/tmp/skua_faults_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/file";
  const std::size_t before = open_fds();
  for (const std::errc error : {std::errc::io_error, std::errc::connection_reset,
                                std::errc::operation_canceled, std::errc::not_enough_memory}) {
    const auto failed =
        skua::fail_each_operation(settings_of(GetParam(), log), error, [&](skua::runtime& rt) {
          rt.block_on(service(path.c_str()));
          EXPECT_EQ(rt.metrics().live, 0U);
        });
    EXPECT_GE(failed, 20U);
    EXPECT_EQ(open_fds(), before);
  }
  ::unlink(path.c_str());
  EXPECT_EQ(::rmdir(directory.c_str()), 0);
}

}  // namespace
