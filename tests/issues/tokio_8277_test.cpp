// tests/issues/tokio_8277_test.cpp: completions that did not fit in their queue were never fetched.
//
// Tokio 8277: more operations completed at once than the completion queue holds. The kernel keeps
// the rest until it is called and asked for events; the driver only looked at the queue it shares
// with the kernel, and those who waited for the rest waited for ever.
//
// Here the kernel's flag that says so leads to a call (ring::wants_call()), and every call asks for
// events (ring::enter(): IORING_ENTER_GETEVENTS), also of a worker that never sleeps. The queue in
// this file has room for 16.
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::watchdog;

class tokio_8277 : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::runtime start_with_a_small_ring() {
    skua::config settings = settings_of(GetParam(), log);
    settings.ring_submissions = 8;
    settings.ring_completions = 16;
    settings.rescue = false;  // nobody else looks at the ring
    return skua_test::started(settings);
  }
  watchdog hang{"completions that do not fit"};
};
INSTANTIATE_TEST_SUITE_P(every, tokio_8277, skua_test::every_kind(), skua_test::name_of_kind);

task<> reads_one(int fd, std::atomic<int>& got) {
  room<1> into;
  const auto count = co_await io::read(fd, into.span());
  EXPECT_EQ(into.text(count), "x");
  ++got;
}

/// What the worker of the readers does until they have ended.
enum class meanwhile { sleeps, never_sleeps };

/// All of them wait in the kernel; then there is something for each.
task<> all_end_at_once(int readers, meanwhile what) {
  const pipe_pair pipe;
  std::atomic<int> got{0};
  std::vector<skua::join_handle<void>> all;
  for (int i = 0; i < readers; ++i) all.push_back(spawn(reads_one(pipe.out(), got)));
  co_await skua::sleep(10ms);
  const std::string bytes(static_cast<std::size_t>(readers), 'x');
  EXPECT_EQ(::write(pipe.in(), bytes.data(), bytes.size()), readers);
  const auto patience = std::chrono::steady_clock::now() + 20s;
  while (what == meanwhile::never_sleeps && got < readers) {
    co_await skua::yield();
    if (std::chrono::steady_clock::now() < patience) continue;
    ADD_FAILURE() << "only " << got << " of " << readers << " were seen to end";
    break;
  }
  for (auto& one : all) co_await std::move(one);
  EXPECT_EQ(got, readers);
}

TEST_P(tokio_8277, a_worker_that_sleeps_sees_all_completions) {
  auto rt = start_with_a_small_ring();
  const watchdog::registration watched(hang, rt.get_handle());
  for (const int readers : {16, 17, 64, 300}) {
    SCOPED_TRACE(readers);
    rt.block_on(all_end_at_once(readers, meanwhile::sleeps));
    hang.progress();
  }
}

TEST_P(tokio_8277, a_worker_that_never_sleeps_sees_all_completions) {
  auto rt = start_with_a_small_ring();
  const watchdog::registration watched(hang, rt.get_handle());
  for (const int readers : {16, 17, 64, 300}) {
    SCOPED_TRACE(readers);
    rt.block_on(all_end_at_once(readers, meanwhile::never_sleeps));
    hang.progress();
  }
}

task<> does_nothing_often(int times) {
  for (int i = 0; i < times; ++i) EXPECT_TRUE((co_await io::nop()).has_value());
}

task<> crowd(int tasks) {
  std::vector<skua::join_handle<void>> all;
  for (int i = 0; i < tasks; ++i) all.push_back(spawn(does_nothing_often(20)));
  for (auto& one : all) co_await std::move(one);
}

TEST_P(tokio_8277, operations_that_end_at_once_are_all_seen_to_end) {
  auto rt = start_with_a_small_ring();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(crowd(300));
}

/// Their cancellations complete as well: two completions each.
task<> all_stop_at_once(int readers) {
  const pipe_pair pipe;
  std::atomic<int> got{0};
  std::vector<skua::join_handle<void>> all;
  for (int i = 0; i < readers; ++i) all.push_back(spawn(reads_one(pipe.out(), got)));
  co_await skua::sleep(5ms);
  for (auto& one : all) one.abort();
  for (auto& one : all) {
    const auto end = co_await one.outcome();
    EXPECT_TRUE(end.stopped());
  }
}

TEST_P(tokio_8277, operations_that_are_stopped_are_all_seen_to_end) {
  auto rt = start_with_a_small_ring();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(all_stop_at_once(200));
}

}  // namespace
