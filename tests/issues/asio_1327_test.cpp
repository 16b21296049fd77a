// tests/issues/asio_1327_test.cpp: the end of a loop waited for an operation that never ends.
//
// Asio 1327: a service that was shut down through io_uring waited for its operations to complete,
// and had cancelled none of them: an accept or a read that nobody answers kept it for ever.
//
// Here shutdown stops each task in its operation (core::close_and_stop()), the request to cancel it
// wakes the worker whose ring it has to go through (uring_driver::cancel()), and only then is the
// end of the operation awaited. No operation in this file would end by itself.
#include "skua/skua.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::task;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::socket_pair;
using skua_test::watchdog;

/// Where nothing ever comes.
struct silent_places {
  silent_places() : listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::listen(listener.get(), 4), 0);
  }
  pipe_pair pipe;
  socket_pair sockets;
  skua::unique_fd listener;
  std::uint32_t word = 0;
};

/// How many began, and how many were unwound.
struct tally {
  std::atomic<int> begun{0};
  std::atomic<int> unwound{0};
  std::atomic<int> ended{0};
};

class counted {
public:
  explicit counted(tally& where) : where_(where) { ++where_.begun; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { ++where_.unwound; }

private:
  tally& where_;
};

task<> reads(silent_places& at, tally& all) {
  const counted me(all);
  room<4> into;
  co_await io::read(at.pipe.out(), into.span());
  ++all.ended;
}
task<> receives(silent_places& at, tally& all) {
  const counted me(all);
  room<4> into;
  co_await io::recv(at.sockets.first(), into.span());
  ++all.ended;
}
task<> accepts(silent_places& at, tally& all) {
  const counted me(all);
  co_await io::accept(at.listener.get());
  ++all.ended;
}
task<> polls(silent_places& at, tally& all) {
  const counted me(all);
  co_await io::poll_fd(at.pipe.out(), POLLIN);
  ++all.ended;
}
task<> sleeps(silent_places&, tally& all) {
  const counted me(all);
  co_await skua::sleep(1h);
  ++all.ended;
}
task<> waits_for_a_word(silent_places& at, tally& all) {
  const counted me(all);
  co_await io::futex_wait(at.word, 0);
  ++all.ended;
}
task<> reads_for_an_hour(silent_places& at, tally& all) {
  const counted me(all);
  room<4> into;
  co_await skua::timeout(1h, io::read(at.pipe.out(), into.span()));
  ++all.ended;
}

using waiter = task<> (*)(silent_places&, tally&);
constexpr waiter waiters[] = {reads,  receives,         accepts,          polls,
                              sleeps, waits_for_a_word, reads_for_an_hour};
constexpr int waiter_count = static_cast<int>(std::size(waiters));

task<> until_begun(const tally& all, int count) {
  while (all.begun < count) co_await skua::yield();
}

class asio_1327 : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::runtime start_alone() {
    skua::config settings = settings_of(GetParam(), log);
    settings.rescue = false;  // no worker looks at the ring of another
    return skua_test::started(settings);
  }
  /// Until they have begun, and, if `asleep`, the workers have nothing more to do.
  void wait_for(skua::runtime& rt, const tally& all, int count, bool asleep) {
    if (multi())
      while (all.begun < count) std::this_thread::yield();
    else
      rt.block_on(until_begun(all, count));
    if (asleep) std::this_thread::sleep_for(20ms);
  }
  void ends_promptly(skua::runtime& rt) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(rt.shutdown().complete());
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  }
  watchdog hang{"shutdown against operations that never end"};
};
INSTANTIATE_TEST_SUITE_P(every, asio_1327, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(asio_1327, each_operation_that_never_ends_is_ended_by_shutdown) {
  const std::size_t fds = skua_test::open_fds();
  for (const waiter what : waiters) {
    silent_places places;
    tally all;
    auto rt = start_alone();
    const watchdog::registration watched(hang, rt.get_handle());
    rt.spawn(what(places, all)).detach();
    wait_for(rt, all, 1, true);
    ends_promptly(rt);
    EXPECT_EQ(all.unwound, 1);
    EXPECT_EQ(all.ended, 0);
    hang.progress();
  }
  EXPECT_EQ(skua_test::open_fds(), fds);
}

TEST_P(asio_1327, many_operations_that_never_end_are_ended_by_shutdown) {
  silent_places places;
  tally all;
  auto rt = start_alone();
  const watchdog::registration watched(hang, rt.get_handle());
  constexpr int each = 50;
  for (int i = 0; i < each; ++i)
    for (const waiter what : waiters) rt.spawn(what(places, all)).detach();
  wait_for(rt, all, each * waiter_count, true);
  ends_promptly(rt);
  EXPECT_EQ(all.unwound, each * waiter_count);
  EXPECT_EQ(all.ended, 0);
}

TEST_P(asio_1327, operations_that_have_just_begun_are_ended_by_shutdown) {
  for (int i = 0; i < 20; ++i) {
    silent_places places;
    tally all;
    auto rt = start_alone();
    const watchdog::registration watched(hang, rt.get_handle());
    for (const waiter what : waiters) rt.spawn(what(places, all)).detach();
    wait_for(rt, all, i % (waiter_count + 1), false);
    ends_promptly(rt);
    EXPECT_EQ(all.unwound, all.begun.load());
    EXPECT_EQ(all.ended, 0);
    hang.progress();
  }
}

TEST_P(asio_1327, operations_that_never_end_do_not_keep_a_destructor_waiting) {
  silent_places places;
  tally all;
  std::optional<skua::runtime> rt(start_alone());
  for (const waiter what : waiters) rt->spawn(what(places, all)).detach();
  wait_for(*rt, all, waiter_count, true);
  rt.reset();
  EXPECT_EQ(all.unwound, waiter_count);
}

}  // namespace
