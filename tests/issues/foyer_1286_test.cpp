// tests/issues/foyer_1286_test.cpp: a buffer was freed while the kernel still wrote into it.
//
// Foyer 1286: a read was given up by dropping its future, which owned the buffer. The kernel had
// the address still, and its bytes came into memory that was somebody else's by then.
//
// Here a task that is stopped in an operation unwinds when the kernel has let go, not before
// (uring_driver::cancel() answers false; the last completion, and the answer to the request to
// cancel, end it). So its buffers live as long as the operation, and no byte is lost: it is where
// it was, or in the buffer of a task that goes on to see it.
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::pipe_pair;
using skua_test::watchdog;

constexpr std::string_view message = "abcdefgh";
constexpr auto untouched = std::byte{0xa5};
constexpr auto dead = std::byte{0xdd};

/// Room that outlives the runtime, so that what is written too late is seen and does no harm.
class ground {
public:
  ground() { bytes_.fill(untouched); }
  [[nodiscard]] std::span<std::byte> span() { return bytes_; }
  [[nodiscard]] bool all(std::byte what) const {
    return std::ranges::all_of(bytes_, [=](std::byte one) { return one == what; });
  }

private:
  std::array<std::byte, 64> bytes_{};
};

/// A buffer on it: dead from its destructor on.
class buffer {
public:
  buffer(ground& on, const pipe_pair& from, std::atomic<bool>& gone)
      : on_(on), from_(from), gone_(gone) {}
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() {
    std::ranges::fill(on_.span(), dead);
    gone_.store(true);
  }
  [[nodiscard]] std::span<std::byte> span() { return on_.span(); }
  [[nodiscard]] int source() const { return from_.out(); }

private:
  ground& on_;
  const pipe_pair& from_;
  std::atomic<bool>& gone_;
};

/// One read that is stopped, and what came of it.
struct trial {
  pipe_pair pipe;
  ground memory;
  std::atomic<bool> begun{false};
  std::atomic<bool> gone{false};
  std::atomic<std::size_t> got{0};

  void send() const {
    EXPECT_EQ(::write(pipe.in(), message.data(), message.size()), std::ssize(message));
  }
  [[nodiscard]] std::size_t left() const {
    int count = -1;
    EXPECT_EQ(::ioctl(pipe.out(), FIONREAD, &count), 0);
    return static_cast<std::size_t>(count);
  }
  /// The task has ended, and the bytes were sent.
  void judge() const {
    EXPECT_TRUE(gone);
    EXPECT_EQ(got + left(), message.size()) << "bytes are lost";
    EXPECT_TRUE(memory.all(dead)) << "written to a buffer that is gone";
  }
};

task<> reads(trial& one) {
  buffer into(one.memory, one.pipe, one.gone);
  one.begun.store(true);
  const auto count = co_await io::read(into.source(), into.span());
  one.got.store(count.value_or(0));
  EXPECT_EQ(skua_test::text_of(into.span().first(one.got)), message);
}

class foyer_1286 : public skua_test::for_each_kind {
protected:
  watchdog hang{"a read that is stopped"};
};
INSTANTIATE_TEST_SUITE_P(every, foyer_1286, skua_test::every_kind(), skua_test::name_of_kind);

/// Waits in the kernel, is stopped, and the bytes come right after.
task<> bytes_come_after_the_stop(int round) {
  trial one;
  auto reader = spawn(reads(one));
  if (round % 2 == 0) co_await skua::sleep(200us);
  for (int i = round % 4; i > 0; --i) co_await skua::yield();
  reader.abort();
  one.send();
  if (round % 3 == 0) co_await skua::yield();
  co_await reader.wait();
  if (!one.begun) co_return;
  co_await skua::sleep(round % 8 == 0 ? 1000us : 10us);  // what comes too late comes now
  one.judge();
}

TEST_P(foyer_1286, bytes_that_come_after_a_stop_stay_or_come_to_a_living_buffer) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 200; ++i) {
    rt.block_on(bytes_come_after_the_stop(i));
    hang.progress();
  }
}

void spin(int microseconds) {
  const auto end = std::chrono::steady_clock::now() + microseconds * 1us;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST_P(foyer_1286, bytes_that_come_during_a_stop_stay_or_come_to_a_living_buffer) {
  if (!multi()) GTEST_SKIP() << "nobody would run the task";
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 100; ++i) {
    trial one;
    auto reader = rt.spawn(reads(one));
    while (!one.begun) std::this_thread::yield();
    std::thread sender([&one, i] {
      spin(i % 10 * 5);
      one.send();
    });
    spin(i % 7 * 10);
    reader.abort();
    sender.join();
    while (!reader.done()) std::this_thread::yield();
    std::this_thread::sleep_for(100us);
    one.judge();
    hang.progress();
  }
}

/// Many at once: what a stop does to one must not free another's.
task<> many_are_stopped(int count) {
  std::vector<std::unique_ptr<trial>> trials;
  std::vector<skua::join_handle<void>> readers;
  for (int i = 0; i < count; ++i) {
    trials.push_back(std::make_unique<trial>());
    readers.push_back(spawn(reads(*trials.back())));
  }
  co_await skua::sleep(2ms);
  for (auto& one : readers) one.abort();
  for (const auto& one : trials) one->send();
  for (auto& one : readers) co_await one.wait();
  co_await skua::sleep(1ms);
  for (const auto& one : trials) one->judge();
}

TEST_P(foyer_1286, bytes_for_many_that_were_stopped_stay_or_come_to_living_buffers) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(many_are_stopped(100));
}

task<> gives_up(trial& one) {
  buffer into(one.memory, one.pipe, one.gone);
  one.begun.store(true);
  const auto count = co_await skua::timeout(1ms, io::read(into.source(), into.span()));
  one.got.store(count.value_or(0));
}

task<> bytes_come_as_it_times_out(int round) {
  trial one;
  auto reader = spawn(gives_up(one));
  co_await skua::sleep(900us + round * 5us);
  one.send();
  co_await std::move(reader);
  co_await skua::sleep(10us);
  one.judge();
}

TEST_P(foyer_1286, bytes_that_come_as_a_read_times_out_stay_or_come_to_a_living_buffer) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 60; ++i) {
    rt.block_on(bytes_come_as_it_times_out(i));
    hang.progress();
  }
}

}  // namespace
