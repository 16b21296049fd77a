// tests/issues/zio_623_test.cpp: a request to cancel was lost since the queue had no room for it.
//
// zio 623: a loop that was asked to cancel while its submission queue was full dropped the request
// and told nobody. Whoever waited for the operation to end waited for ever.
//
// Here a request that finds no room stays on a list (uring_driver::want_cancel()), goes before all
// else once there is room (fill_ring()), and nobody sleeps while one is left (may_wait()). The ring
// in this file has room for eight.
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

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

constexpr std::uint32_t ring_room = 8;

class zio_623 : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::runtime start_with_a_tiny_ring() {
    skua::config settings = settings_of(GetParam(), log);
    settings.ring_submissions = ring_room;
    settings.ring_completions = 2 * ring_room;
    settings.rescue = false;  // nobody else looks at the ring
    return skua_test::started(settings);
  }
  watchdog hang{"requests to cancel that find no room"};
};
INSTANTIATE_TEST_SUITE_P(every, zio_623, skua_test::every_kind(), skua_test::name_of_kind);

/// Waits for bytes that never come.
task<> reads_nothing(int fd) {
  room<4> into;
  const auto got = co_await io::read(fd, into.span());
  ADD_FAILURE() << "it has read " << got.value_or(0);
}

task<> all_stop(std::vector<skua::join_handle<void>>& readers) {
  for (auto& one : readers) one.abort();
  for (auto& one : readers) {
    const auto end = co_await one.outcome();
    EXPECT_TRUE(end.stopped());
  }
}

std::vector<skua::join_handle<void>> readers_of(const pipe_pair& pipe, std::size_t count) {
  std::vector<skua::join_handle<void>> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(spawn(reads_nothing(pipe.out())));
  return all;
}

/// The worker has slept before, so that it knows how to be woken.
task<> stops_what_the_kernel_does_not_know_yet(std::size_t count) {
  const pipe_pair pipe;
  co_await skua::sleep(1ms);
  auto readers = readers_of(pipe, count);
  // They begin, and fill the ring; nobody calls the kernel in between.
  for (int i = 0; i < 3; ++i) co_await skua::yield();
  co_await all_stop(readers);
}

TEST_P(zio_623, operations_that_fill_the_ring_are_all_cancelled_before_it_is_submitted) {
  for (const std::size_t count : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 40U}) {
    SCOPED_TRACE(count);
    auto rt = start_with_a_tiny_ring();
    const watchdog::registration watched(hang, rt.get_handle());
    rt.block_on(stops_what_the_kernel_does_not_know_yet(count));
    hang.progress();
  }
}

task<> stops_what_waits_in_the_kernel(std::size_t count) {
  const pipe_pair pipe;
  auto readers = readers_of(pipe, count);
  co_await skua::sleep(5ms);
  co_await all_stop(readers);
}

TEST_P(zio_623, operations_in_the_kernel_are_all_cancelled_though_the_requests_do_not_fit) {
  for (const std::size_t count : {8U, 9U, 17U, 100U, 300U}) {
    SCOPED_TRACE(count);
    auto rt = start_with_a_tiny_ring();
    const watchdog::registration watched(hang, rt.get_handle());
    rt.block_on(stops_what_waits_in_the_kernel(count));
    hang.progress();
  }
}

task<> times_out(int fd) {
  room<4> into;
  const auto got = co_await skua::timeout(2ms, io::read(fd, into.span()));
  EXPECT_EQ(got.error(), std::errc::timed_out);
}

task<> all_time_out(std::size_t count) {
  const pipe_pair pipe;
  std::vector<skua::join_handle<void>> readers;
  readers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) readers.push_back(spawn(times_out(pipe.out())));
  for (auto& one : readers) co_await std::move(one);
}

TEST_P(zio_623, operations_that_time_out_at_once_all_end_though_the_requests_do_not_fit) {
  for (const std::size_t count : {8U, 9U, 17U, 100U, 300U}) {
    SCOPED_TRACE(count);
    auto rt = start_with_a_tiny_ring();
    const watchdog::registration watched(hang, rt.get_handle());
    rt.block_on(all_time_out(count));
    hang.progress();
  }
}

}  // namespace
