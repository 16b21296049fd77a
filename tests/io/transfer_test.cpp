// tests/io/transfer_test.cpp: the same bytes from any stream to any other, whoever moves them.
#include "skua/io/transfer.hpp"

#include "skua/io/copy.hpp"
#include "skua/io/copy_bidirectional.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using io::descriptor;
using skua::result;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::open_fds;
using skua_test::temp_directory;

/// A type that is nothing but its descriptor, and says so.
class plain {
public:
  explicit plain(unique_fd fd) : of_(std::move(fd)) {}
  [[nodiscard]] auto read(std::span<std::byte> into) const { return of_.read(into); }
  [[nodiscard]] auto write(std::span<const std::byte> from) const { return of_.write(from); }
  [[nodiscard]] auto shutdown_write() const { return io::shutdown(of_, SHUT_WR); }
  [[nodiscard]] const descriptor& io_descriptor() const { return of_; }

private:
  descriptor of_;
};
/// One that does not.
class hidden {
public:
  explicit hidden(unique_fd fd) : of_(std::move(fd)) {}
  [[nodiscard]] auto read(std::span<std::byte> into) const { return of_.read(into); }
  [[nodiscard]] auto write(std::span<const std::byte> from) const { return of_.write(from); }
  [[nodiscard]] auto shutdown_write() const { return io::shutdown(of_, SHUT_WR); }

private:
  descriptor of_;
};
static_assert(io::over_descriptor<plain> && !io::over_descriptor<hidden>);
static_assert(skua::async_half_closable<plain> && skua::async_stream<hidden>);

struct two {
  unique_fd near;
  unique_fd far;
};
two new_pipe() {  // reads from near
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}
two new_local() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}
two new_tcp() {
  skua_test::listener at;
  unique_fd near = at.connected();
  return {std::move(near), at.accepted()};
}
unique_fd new_file(const temp_directory& in, const char* name, int flags = 0) {
  unique_fd made(::open((in / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600));
  EXPECT_TRUE(made);
  return made;
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return made;
}

class transfers : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, transfers, skua_test::every_kind(), skua_test::name_of_kind);

constexpr std::array<const char*, 5> kinds = {"pipe", "local", "tcp", "file", "appended"};

/// Where bytes come from: a stream that somebody writes to, or a file that has them.
class source {
public:
  source(std::size_t which, const temp_directory& in, std::span<const std::byte> bytes) {
    if (which >= 3) {
      from_ = new_file(in, "from");
      EXPECT_EQ(::write(from_.get(), bytes.data(), bytes.size()),
                static_cast<ssize_t>(bytes.size()));
      EXPECT_EQ(::lseek(from_.get(), 0, SEEK_SET), 0);
      return;
    }
    two ends = which == 0 ? new_pipe() : which == 1 ? new_local() : new_tcp();
    from_ = std::move(ends.near);
    auto writes = [](unique_fd to, std::span<const std::byte> all) -> task<> {
      descriptor into(std::move(to));
      EXPECT_TRUE((co_await io::write_all(into, all)).has_value());
    };
    writer_ = skua::spawn(writes(std::move(ends.far), bytes));
  }
  unique_fd take() { return std::move(from_); }
  task<> end() {
    if (writer_) co_await std::move(*writer_);
  }

private:
  unique_fd from_;
  std::optional<skua::join_handle<void>> writer_;
};

/// Where they go to, and what arrived there.
class target {
public:
  target(std::size_t which, const temp_directory& in) {
    if (which >= 3) {
      to_ = new_file(in, "to", which == 4 ? O_APPEND : 0);
      path_ = in / "to";
      return;
    }
    two ends = which == 0 ? new_pipe() : which == 1 ? new_local() : new_tcp();
    to_ = std::move(ends.far);
    auto reads = [](unique_fd from) -> task<std::vector<std::byte>> {
      descriptor out(std::move(from));
      auto all = co_await io::read_to_end(out, 100 << 20);
      EXPECT_TRUE(all.has_value());
      co_return *std::move(all);
    };
    reader_ = skua::spawn(reads(std::move(ends.near)));
  }
  unique_fd take() { return std::move(to_); }
  task<std::vector<std::byte>> arrived() {
    if (reader_) co_return co_await std::move(*reader_);
    descriptor file(unique_fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)));
    auto all = co_await io::read_to_end(file, 100 << 20);
    co_return *std::move(all);
  }

private:
  unique_fd to_;
  std::string path_;
  std::optional<skua::join_handle<std::vector<std::byte>>> reader_;
};

template <typename From, typename To>
task<> one_copy(std::size_t from, std::size_t to, std::span<const std::byte> bytes) {
  const temp_directory directory;
  source begin(from, directory, bytes);
  target end(to, directory);
  {
    From in(begin.take());
    To out(end.take());
    const result<std::uint64_t> moved = co_await io::copy(in, out);
    EXPECT_EQ(moved.value_or(0), bytes.size()) << error_of(moved).message();
  }
  co_await begin.end();
  const std::vector<std::byte> got = co_await end.arrived();
  EXPECT_TRUE(std::ranges::equal(got, bytes)) << got.size() << " of " << bytes.size();
}

TEST_P(transfers, give_the_same_bytes_between_all_kinds_of_descriptors) {
  const std::size_t before = open_fds();
  {
    auto rt = start();
    for (const std::size_t size : {0U, 1U, 700'001U}) {
      const auto bytes = pattern(size);
      for (std::size_t from = 0; from < 4; ++from) {
        for (std::size_t to = 0; to < kinds.size(); ++to) {
          SCOPED_TRACE(std::string(kinds[from]) + " to " + kinds[to]);
          rt.block_on(one_copy<plain, plain>(from, to, bytes));
          rt.block_on(one_copy<plain, hidden>(from, to, bytes));
        }
      }
    }
  }
  EXPECT_EQ(open_fds(), before);
}

/// A socket; files and pipes are moved as they are.
void block_no_more(const descriptor& which) {
  int type = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(which.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0) return;
  EXPECT_EQ(::fcntl(which.get(), F_SETFL, O_NONBLOCK), 0);
}

/// How many threads the kernel has made for what would block in our ring.
std::size_t kernel_threads() {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(one.path() / "comm") >> name;
    if (name.starts_with("iou-wrk")) ++count;
  }
  return count;
}

bool has_room(int socket) {
  pollfd one{.fd = socket, .events = POLLOUT, .revents = 0};
  return ::poll(&one, 1, 0) != 0;
}

TEST_P(transfers, leave_sockets_that_block_as_they_are) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory directory;
    two ends = new_tcp();
    const descriptor file(new_file(directory, "file"));
    const descriptor socket(std::move(ends.near));
    const int before = ::fcntl(socket.get(), F_GETFL);
    EXPECT_FALSE((co_await io::transfer(file, socket))->at_end());
    EXPECT_FALSE((co_await io::transfer(socket, file))->at_end());
    EXPECT_EQ(::fcntl(socket.get(), F_GETFL), before);
  };
  rt.block_on(body());
}

// A splice into a socket that has room for some of the bytes would.
TEST_P(transfers, hold_no_thread_while_nobody_reads) {
  constexpr std::size_t many = 40;
  auto rt = start();
  auto body = []() -> task<> {
    auto copies = [](unique_fd from, const plain& to) -> task<> {
      const plain in(std::move(from));
      (void)co_await io::copy(in, to);
    };
    auto feeds = [](unique_fd to) -> task<> {
      const descriptor into(std::move(to));
      const auto bytes = pattern(1 << 20);
      while ((co_await io::write_all(into, std::span(bytes))).has_value()) {
      }
    };
    std::vector<unique_fd> silent;
    std::deque<plain> full;
    std::vector<skua::join_handle<void>> all;
    for (std::size_t i = 0; i < many; ++i) {
      two from = new_local();
      two to = new_tcp();
      constexpr int little = 20'000;
      EXPECT_EQ(::setsockopt(to.far.get(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
      silent.push_back(std::move(to.near));
      full.emplace_back(std::move(to.far));
      all.push_back(skua::spawn(feeds(std::move(from.far))));
      all.push_back(skua::spawn(copies(std::move(from.near), full.back())));
    }
    const auto is_full = [](const plain& one) { return !has_room(one.io_descriptor().get()); };
    EXPECT_TRUE(co_await skua_test::comes_true([&] { return std::ranges::all_of(full, is_full); }));
    EXPECT_LT(kernel_threads(), many / 2);
    for (auto& one : all) one.abort();
    for (auto& one : all) (void)co_await one.outcome();
  };
  rt.block_on(body());
}

TEST_P(transfers, are_done_by_the_kernel_where_it_can) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto bytes = pattern(300'000);
    for (std::size_t from = 0; from < 4; ++from) {
      for (std::size_t to = 0; to < kinds.size(); ++to) {
        const temp_directory directory;
        source begin(from, directory, bytes);
        target end(to, directory);
        const descriptor in(begin.take());
        const descriptor out(end.take());
        block_no_more(in);
        block_no_more(out);
        const auto done = co_await io::transfer(in, out);
        const bool refused = kinds[to] == std::string("appended");
        const bool looks_again = from == 3 && to == 3;
        EXPECT_EQ(done->at_end(), !refused && !looks_again) << kinds[from] << kinds[to];
        if (!refused) {
          EXPECT_EQ(done->bytes(), bytes.size());
        } else {
          std::vector<std::byte> rest(bytes.size());
          EXPECT_TRUE(
              (co_await io::read_exactly(in, std::span(rest).subspan(done->bytes()))).has_value());
        }
        co_await begin.end();
      }
    }
  };
  rt.block_on(body());
}

TEST_P(transfers, read_files_that_seem_empty) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory directory;
    const descriptor from(unique_fd(::open("/proc/self/status", O_RDONLY | O_CLOEXEC)));
    const descriptor to(new_file(directory, "to"));
    const auto moved = co_await io::copy(from, to);
    EXPECT_GT(moved.value_or(0), 100U);
  };
  rt.block_on(body());
}

TEST_P(transfers, do_without_descriptors_of_their_own) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto bytes = pattern(100'000);
    const temp_directory directory;
    two ends = new_local();
    source begin(3, directory, bytes);
    const descriptor from(begin.take());
    const descriptor to(std::move(ends.far));
    const descriptor out(std::move(ends.near));
    auto copies = [](const descriptor& in, const descriptor& into) -> task<std::uint64_t> {
      const auto moved = co_await io::copy(in, into);
      EXPECT_TRUE(moved.has_value());
      EXPECT_TRUE((co_await io::shutdown(into, SHUT_WR)).has_value());
      co_return moved.value_or(0);
    };
    const skua_test::fd_limit none(0);
    auto [moved, got] = co_await skua::when_all(copies(from, to), io::read_to_end(out, 1 << 20));
    EXPECT_EQ(moved, bytes.size());
    EXPECT_EQ(*got, bytes);
  };
  rt.block_on(body());
}

TEST_P(transfers, fail_without_a_signal_when_nobody_reads) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto bytes = pattern(200'000);
    for (std::size_t to = 0; to < 3; ++to) {
      const temp_directory directory;
      source begin(3, directory, bytes);
      two ends = to == 0 ? new_pipe() : to == 1 ? new_local() : new_tcp();
      ends.near.reset();
      if (to == 2) {  // all may fit in before the answer comes that nobody is there
        EXPECT_EQ(::send(ends.far.get(), "x", 1, MSG_NOSIGNAL), 1);
        pollfd gone{.fd = ends.far.get(), .events = 0, .revents = 0};
        EXPECT_EQ(::poll(&gone, 1, 60'000), 1);
      }
      const descriptor in(begin.take());
      const descriptor out(std::move(ends.far));
      const auto moved = co_await io::copy(in, out);
      const auto why = error_of(moved);
      EXPECT_TRUE(why == std::errc::broken_pipe || why == std::errc::connection_reset)
          << kinds[to] << " " << why.message();
    }
  };
  rt.block_on(body());
}

TEST_P(transfers, stop_where_they_wait) {
  const std::size_t before = open_fds();
  {
    auto rt = start();
    auto body = []() -> task<> {
      const auto bytes = pattern(1 << 20);
      const temp_directory directory;
      auto copies = [](unique_fd from, unique_fd to) -> task<> {
        const plain in(std::move(from));
        const plain out(std::move(to));
        (void)co_await io::copy(in, out);
      };
      for (std::size_t from = 0; from < 3; ++from) {
        for (std::size_t to = 0; to < 3; ++to) {
          two silent = from == 0 ? new_pipe() : from == 1 ? new_local() : new_tcp();
          two full = to == 0 ? new_pipe() : to == 1 ? new_local() : new_tcp();
          auto waits_for_bytes =
              skua::spawn(copies(std::move(silent.near), unique_fd(::dup(full.far.get()))));
          source much(3, directory, bytes);
          auto waits_for_room = skua::spawn(copies(much.take(), std::move(full.far)));
          co_await skua::sleep(2ms);
          waits_for_bytes.abort();
          waits_for_room.abort();
          EXPECT_TRUE((co_await waits_for_bytes.outcome()).stopped());
          (void)co_await waits_for_room.outcome();  // a socket may have room for all
        }
      }
    };
    rt.block_on(body());
  }
  EXPECT_EQ(open_fds(), before);
}

// --- both ways

/// Says `text`, and ends its direction.
template <typename Stream>
task<> say(Stream& at, std::string text) {
  const result<void> written = co_await io::write_all(at, bytes_of(text));
  EXPECT_TRUE(written.has_value());
  const result<void> ended = co_await at.shutdown_write();
  EXPECT_TRUE(ended.has_value());
}
template <typename Stream>
task<std::string> hear(Stream& at) {
  std::string heard;
  const result<std::size_t> got = co_await io::read_to_end(at, heard, 1 << 20);
  EXPECT_TRUE(got.has_value());
  co_return heard;
}
template <typename Stream>
task<std::string> converse(Stream& at, std::string text) {
  co_await say(at, std::move(text));
  co_return co_await hear(at);
}
/// Hears everything first.
template <typename Stream>
task<std::string> answer(Stream& at, std::string text) {
  std::string heard = co_await hear(at);
  co_await say(at, std::move(text));
  co_return heard;
}

template <typename Stream>
task<> through_a_proxy(Stream client, Stream near, Stream far, Stream server) {
  const std::string question(100'000, 'q');
  const std::string reply(70'000, 'r');
  auto [back, both, heard] = co_await skua::when_all(
      converse(client, question), io::copy_bidirectional(near, far), answer(server, reply));
  EXPECT_EQ(back, reply);
  EXPECT_EQ(heard, question);
  EXPECT_EQ(both->forth(), question.size());
  EXPECT_EQ(both->back(), reply.size());
}

TEST_P(transfers, pass_on_the_end_of_either_direction) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const bool tcp : {false, true}) {
      two left = tcp ? new_tcp() : new_local();
      two right = tcp ? new_tcp() : new_local();
      co_await through_a_proxy(plain(std::move(left.near)), plain(std::move(left.far)),
                               plain(std::move(right.near)), plain(std::move(right.far)));
    }
    auto [client, near] = io::duplex(1'000);
    auto [far, server] = io::duplex(3'000);
    co_await through_a_proxy(std::move(client), std::move(near), std::move(far), std::move(server));
  };
  rt.block_on(body());
}

TEST_P(transfers, of_both_ways_end_when_one_fails) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [client, near] = io::duplex(10);
    auto [far, server] = io::duplex(10);
    {
      const auto gone = std::move(server);
    }
    EXPECT_TRUE((co_await client.write(bytes_of("hello"))).has_value());
    const auto both =
        co_await io::copy_bidirectional(near, far);  // the client stays, and says no more
    EXPECT_EQ(error_of(both), std::errc::broken_pipe);
  };
  rt.block_on(body());
}

}  // namespace
