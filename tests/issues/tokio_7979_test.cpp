// tests/issues/tokio_7979_test.cpp: an open that was given up came through, and stayed open.
//
// Tokio 7979: the future of an open through io_uring was dropped. The kernel had opened the file by
// then, or did so all the same; its completion was thrown away, and the descriptor with it.
//
// Here a task that is stopped in an open does not unwind before the kernel has let go, and one that
// has succeeded is given to the task (io_wait::ended(): complete(), not complete_cancelled()),
// whose unique_fd closes it. What nobody took is closed with the operation (~io_operation).
#include "skua/skua.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::open_fds;

/// With a file and a fifo in a directory of its own. Counts descriptors.
class tokio_7979 : public skua_test::for_each_kind {
protected:
  tokio_7979() {
    EXPECT_NE(::mkdtemp(directory.data()), nullptr);
    EXPECT_EQ(::mkfifo(fifo().c_str(), 0600), 0);
    skua::unique_fd(::open(file().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)).reset();
  }
  ~tokio_7979() override {
    ::unlink(file().c_str());
    ::unlink(fifo().c_str());
    EXPECT_EQ(::rmdir(directory.c_str()), 0);
  }
  [[nodiscard]] std::string file() const { return directory + "/file"; }
  [[nodiscard]] std::string fifo() const { return directory + "/fifo"; }

  std::string directory = "/tmp/skua_7979_XXXXXX";
};
INSTANTIATE_TEST_SUITE_P(every, tokio_7979, skua_test::every_kind(), skua_test::name_of_kind);

/// How many opens came to which end.
struct tally {
  std::atomic<int> begun{0};
  std::atomic<int> opened{0};
};

task<> opens(const char* path, int flags, tally& ends) {
  ++ends.begun;
  const auto got = co_await io::open(path, flags);
  if (got.has_value()) ++ends.opened;
  co_await skua::yield();  // where one that was opened after the stop unwinds
}

task<> given_up_here(const char* path, int rounds, tally& ends) {
  for (int i = 0; i < rounds; ++i) {
    auto attempt = spawn(opens(path, O_RDONLY, ends));
    for (int turn = i % 6; turn > 0; --turn) co_await skua::yield();
    if (i % 4 == 1) co_await io::nop();
    if (i % 4 == 2) co_await skua::sleep(i % 50 * 1us);
    attempt.abort();
    co_await attempt.wait();
  }
}

TEST_P(tokio_7979, an_open_that_is_stopped_at_any_moment_leaves_nothing_open) {
  auto rt = start();
  const std::size_t before = open_fds();
  tally ends;
  rt.block_on(given_up_here(file().c_str(), 400, ends));
  EXPECT_EQ(open_fds(), before);
  EXPECT_GT(ends.begun, 0);
}

task<> all_given_up(const char* path, int count, tally& ends) {
  std::vector<skua::join_handle<void>> attempts;
  for (int i = 0; i < count; ++i) attempts.push_back(spawn(opens(path, O_RDONLY, ends)));
  co_await skua::yield();
  for (auto& one : attempts) one.abort();
  for (auto& one : attempts) co_await one.wait();
}

TEST_P(tokio_7979, a_crowd_of_opens_that_is_stopped_leaves_nothing_open) {
  auto rt = start();
  const std::size_t before = open_fds();
  tally ends;
  for (int i = 0; i < 10; ++i) rt.block_on(all_given_up(file().c_str(), 100, ends));
  EXPECT_EQ(open_fds(), before);
}

void spin(int microseconds) {
  const auto end = std::chrono::steady_clock::now() + microseconds * 1us;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST_P(tokio_7979, an_open_that_another_thread_stops_leaves_nothing_open) {
  if (!multi()) GTEST_SKIP() << "nobody would run the task";
  auto rt = start();
  const std::size_t before = open_fds();
  tally ends;
  for (int i = 0; i < 400; ++i) {
    const int begun = ends.begun;
    auto attempt = rt.spawn(opens(file().c_str(), O_RDONLY, ends));
    if (i % 2 == 0)
      while (ends.begun == begun) std::this_thread::yield();
    spin(i % 40);
    attempt.abort();
    while (!attempt.done()) std::this_thread::yield();
  }
  EXPECT_EQ(open_fds(), before);
}

task<> opens_in_time(const char* path, std::chrono::microseconds limit, tally& ends) {
  ++ends.begun;
  const auto got = co_await skua::timeout(limit, io::open(path, O_RDONLY));
  if (got.has_value()) ++ends.opened;
}

task<> all_with_a_limit(const char* path, tally& ends) {
  for (int i = 0; i < 200; ++i) co_await opens_in_time(path, i % 20 * 1us, ends);
}

TEST_P(tokio_7979, an_open_that_times_out_leaves_nothing_open) {
  auto rt = start();
  const std::size_t before = open_fds();
  tally ends;
  rt.block_on(all_with_a_limit(file().c_str(), ends));
  EXPECT_EQ(open_fds(), before);
}

/// Its reader comes after the stop: the open may succeed then.
task<> opened_after_the_stop(const char* path, int round, tally& ends) {
  auto attempt = spawn(opens(path, O_WRONLY, ends));
  co_await skua::sleep(round % 5 * 100us);
  attempt.abort();
  if (round % 2 == 0) co_await skua::yield();
  const skua::unique_fd reader(::open(path, O_RDWR | O_CLOEXEC));
  co_await attempt.wait();
}

TEST_P(tokio_7979, an_open_that_succeeds_after_the_stop_leaves_nothing_open) {
  auto rt = start();
  const std::size_t before = open_fds();
  tally ends;
  for (int i = 0; i < 40; ++i) rt.block_on(opened_after_the_stop(fifo().c_str(), i, ends));
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
