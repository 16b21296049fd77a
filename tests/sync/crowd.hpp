// tests/sync/crowd.hpp: many tasks at one primitive, some of which are stopped at some time.
#pragma once

#include "skua/base/random.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/budget.hpp"
#include "support/started.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

/// Calls `round(runtime, random)` again and again, on runtimes with 2 and with 8 workers. Prints
/// the seed, which SKUA_TEST_SEED sets; ends the program if a round hangs.
template <typename Round>
void for_some_time(Round round) {
  const char* const set = std::getenv("SKUA_TEST_SEED");
  const bool given = set != nullptr && *set != '\0';
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t seed =
      given ? std::strtoull(set, nullptr, 10) : static_cast<std::uint64_t>(now);
  std::printf("SKUA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  skua::random_generator random(seed);
  watchdog hang("seed " + std::to_string(seed));
  skua::config settings;
  settings.flavour = skua::flavour::multi_thread;
  settings.workers = 2;
  skua::runtime two = started(settings);
  settings.workers = 8;
  skua::runtime eight = started(settings);
  const watchdog::registration watch_two(hang, two.get_handle());
  const watchdog::registration watch_eight(hang, eight.get_handle());
  unsigned long rounds = 0;
  const budget time(0.5);
  do {
    round(two, random);
    round(eight, random);
    hang.progress();
    ++rounds;
  } while (time.left() && !testing::Test::HasFailure());
  std::printf("%lu rounds on each\n", rounds);
}

/// Spawns `count` tasks, `make(random)` each, asks about one in `one_in` of them to stop after a
/// while (0: none), and waits for all. Gives how many ended by a stop.
template <typename Make>
skua::task<std::size_t> crowd(std::size_t count, std::uint64_t one_in, Make& make,
                              skua::random_generator random) {
  std::vector<skua::join_handle<void>> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(skua::spawn(make(random.split())));
    if (random.below(4) == 0) co_await skua::yield();
    if (one_in != 0 && random.below(one_in) == 0) all[random.below(all.size())].abort();
  }
  std::size_t stopped = 0;
  for (auto& one : all) {
    const skua::outcome<void> how = co_await one.outcome();
    if (how.stopped()) ++stopped;
  }
  co_return stopped;
}

}  // namespace skua_test
