// tests/io/linger_test.cpp: a worker whose last sleep was short stays awake for what comes next.
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/sleepers.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace {

using namespace std::chrono_literals;
using skua_test::socket_pair;

constexpr int messages = 200;
constexpr auto linger = 10ms;

/// Answers each byte with the next one, when `may` is true, until the other end is closed.
template <typename May>
void answer(int fd, May may) {
  std::array<char, 1> byte{};
  while (::read(fd, byte.data(), 1) == 1) {
    while (!may()) std::this_thread::yield();
    ++byte[0];
    if (::write(fd, byte.data(), 1) != 1) return;
  }
}

/// How many answers took so long that a worker may have slept meanwhile.
skua::task<int> talk(int fd) {
  int late = 0;
  for (int i = 0; i < messages; ++i) {
    std::array byte{static_cast<std::byte>(i)};
    const auto asked = skua::now();
    EXPECT_EQ(co_await skua::io::send(fd, byte), 1);
    EXPECT_EQ(co_await skua::io::recv(fd, byte), 1);
    EXPECT_EQ(byte[0], static_cast<std::byte>(i + 1));
    if (skua::now() - asked > linger / 2) ++late;
  }
  co_return late;
}

struct seen {
  std::uint64_t parks = 0;
  int late = 0;
};

template <typename May>
seen parks_of_a_talk(const skua::config& settings, May may_answer) {
  skua::runtime here = skua_test::started(settings);
  const socket_pair ends;
  std::thread peer([&] { answer(ends.second(), may_answer); });
  const std::uint64_t before = here.metrics().workers[0].parks;
  const int late = here.block_on(talk(ends.first()));
  const std::uint64_t parks = here.metrics().workers[0].parks - before;
  ::shutdown(ends.first(), SHUT_RDWR);
  peer.join();
  return {.parks = parks, .late = late};
}

skua::config one_that_lingers(std::chrono::nanoseconds lingers) {
  skua::config settings;
  settings.workers = 1;
  settings.linger = lingers.count();
  return settings;
}

TEST(linger, a_worker_sleeps_only_when_the_answer_is_late) {
  const seen got = parks_of_a_talk(one_that_lingers(linger), [] { return true; });
  EXPECT_LE(got.parks, 4 * static_cast<std::uint64_t>(got.late) + 10);
}

// Nobody answers before it sleeps, or it might find the answer without.
TEST(linger, a_worker_that_must_not_sleeps_while_it_waits) {
  skua_test::sleepers watch;
  skua::config settings = one_that_lingers(0ns);
  settings.hooks = &watch;
  const seen got = parks_of_a_talk(settings, [&] { return watch.asleep > 0; });
  EXPECT_GE(got.parks, static_cast<std::uint64_t>(messages));
}

/// How often the calling thread has slept.
long sleeps_of_this_thread() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

struct slept {
  long times = 0;  // the thread of the pool
  int late = 0;    // calls after which it may have
};

skua::task<slept> call_again_and_again() {
  slept seen;
  const long before = co_await skua::spawn_blocking(sleeps_of_this_thread);
  for (int i = 0; i < messages; ++i) {
    const auto asked = skua::now();
    seen.times = co_await skua::spawn_blocking(sleeps_of_this_thread) - before;
    if (skua::now() - asked > linger / 2) ++seen.late;
  }
  co_return seen;
}

TEST(linger, a_thread_of_the_pool_sleeps_only_when_the_next_call_is_late) {
  skua::config settings = one_that_lingers(linger);
  settings.blocking_threads = 1;
  skua::runtime here = skua_test::started(settings);
  const slept got = here.block_on(call_again_and_again());
  EXPECT_LE(got.times, 4 * got.late + messages / 4);
}

}  // namespace
