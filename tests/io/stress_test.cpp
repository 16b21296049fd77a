// tests/io/stress_test.cpp: a million operations, stopped and timed out at random: no byte is lost.
#include "skua/base/random.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/started.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua_test::socket_pair;
using skua_test::started;

constexpr bool slow_build = skua::built_with_asan || skua::built_with_tsan;
constexpr std::uint64_t operations_wanted = slow_build ? 100'000 : 1'000'000;
constexpr int connections_at_once = 32;

/// A stream of bytes that count up. One task sends, another receives; each may be stopped at any
/// moment and is followed by another, which goes on where it was.
struct connection {
  socket_pair ends;
  std::uint64_t sent = 0;      // for the one that sends
  std::uint64_t received = 0;  // for the one that receives
};

struct all {
  explicit all(std::uint64_t from) : seed(from), connections(connections_at_once) {}

  [[nodiscard]] bool enough() const { return operations.load() >= operations_wanted; }

  std::uint64_t seed;
  std::vector<connection> connections;
  std::atomic<std::uint64_t> operations{0};
  std::atomic<std::uint64_t> timeouts{0};
  std::atomic<std::uint64_t> stops{0};
  std::atomic<bool> over{false};
};

using bytes = std::array<std::byte, 64>;

/// None at all, one that passes at once, or one that is a close race.
std::chrono::nanoseconds some_time(skua::random_generator& random) {
  switch (random.below(4)) {
    case 0:
      return 10s;
    case 1:
      return 0ns;
    default:
      return std::chrono::nanoseconds(random.below(200'000));
  }
}

void count(all& of, const skua::result<std::size_t>& end) {
  ++of.operations;
  if (end.has_value()) return;
  EXPECT_EQ(end.error(), std::errc::timed_out);
  ++of.timeouts;
}

task<> sends(all& of, connection& through, skua::random_generator random) {
  bytes buffer;
  while (!of.enough()) {
    const auto length = static_cast<std::size_t>(1 + random.below(buffer.size()));
    for (std::size_t i = 0; i < length; ++i) buffer[i] = std::byte(through.sent + i);
    const auto end = co_await skua::timeout(
        some_time(random), io::send(through.ends.first(), std::span(buffer).first(length)));
    count(of, end);
    if (end.has_value()) through.sent += *end;
    if (random.below(8) == 0) co_await io::nop();
  }
}

task<> receives(all& of, connection& through, skua::random_generator random) {
  bytes buffer;
  for (;;) {
    const auto end =
        co_await skua::timeout(some_time(random), io::recv(through.ends.second(), buffer));
    count(of, end);
    if (end.has_value() && *end == 0) co_return;  // no more comes
    for (std::size_t i = 0; i < end.value_or(0); ++i)
      if (buffer[i] != std::byte(through.received + i)) ADD_FAILURE() << "a byte was lost";
    through.received += end.value_or(0);
  }
}

/// Stops its children now and then, and starts others in their place.
template <typename Start>
task<> supervises(all& of, skua::random_generator random, Start start) {
  for (;;) {
    auto child = spawn(start(random.split()));
    if (!of.enough()) {
      co_await skua::sleep(std::chrono::microseconds(random.below(500)));
      child.abort();
    }
    const auto end = co_await child.outcome();
    if (!end.stopped()) co_return;
    ++of.stops;
  }
}

task<> one_direction(all& of, connection& through, std::uint64_t seed) {
  skua::random_generator random(seed);
  auto sender = [&of, &through](skua::random_generator with) { return sends(of, through, with); };
  auto receiver = [&of, &through](skua::random_generator with) {
    return receives(of, through, with);
  };
  auto other = spawn(supervises(of, random.split(), receiver));
  co_await supervises(of, random.split(), sender);
  co_await io::shutdown(through.ends.first(), SHUT_WR);
  co_await std::move(other);
}

task<> everything(all& of) {
  std::vector<skua::join_handle<void>> each;
  for (std::size_t i = 0; i < of.connections.size(); ++i)
    each.push_back(spawn(one_direction(of, of.connections[i], of.seed + i)));
  for (auto& one : each) co_await std::move(one);
}

void go_through(const skua::config& settings) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const std::size_t fds = skua_test::open_fds();
  {
    auto rt = started(settings);
    all of(seed);
    rt.block_on(everything(of));
    for (const connection& one : of.connections) EXPECT_EQ(one.sent, one.received);
    std::printf("%llu operations, %llu timed out, %llu tasks stopped\n",
                static_cast<unsigned long long>(of.operations),
                static_cast<unsigned long long>(of.timeouts),
                static_cast<unsigned long long>(of.stops));
    EXPECT_GT(of.timeouts.load(), 0U);
    EXPECT_GT(of.stops.load(), 0U);
    EXPECT_EQ(rt.metrics().live, 0U);
  }
  EXPECT_EQ(skua_test::open_fds(), fds);
}

TEST(operations, are_not_lost_among_a_million) {
  skua::config settings;
  settings.workers = 2;
  go_through(settings);
}

TEST(operations, are_not_lost_in_a_ring_that_overflows) {
  skua::config settings;
  settings.workers = 2;
  settings.ring_submissions = 8;
  settings.ring_completions = 16;
  go_through(settings);
}

TEST(operations, are_not_lost_on_the_callers_thread) {
  skua::config settings;
  settings.flavour = skua::flavour::current_thread;
  settings.ring_submissions = 8;
  settings.ring_completions = 16;
  go_through(settings);
}

}  // namespace
