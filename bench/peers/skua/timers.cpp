// bench/peers/skua/timers.cpp: many timers at once, and many that never strike.
#include "skua/questions.hpp"

#include <skua/coro/yield.hpp>
#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/time/sleep.hpp>
#include <skua/time/timeout.hpp>

#include <chrono>
#include <utility>

namespace {

using namespace std::chrono_literals;

skua::task<std::uint64_t> sleeper(std::uint64_t number) {
  co_await skua::sleep(std::chrono::milliseconds(1 + number * 7 % 100));
  co_return 1U;
}
skua::task<> sleeps(std::uint64_t count) {
  std::vector<skua::join_handle<std::uint64_t>> all;
  all.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(skua::spawn(sleeper(i)));
  std::uint64_t woken = 0;
  for (auto& one : all) woken += co_await std::move(one);
  peers::must_be(woken, count);
}

skua::task<std::uint64_t> waits_a_little() {
  co_await skua::yield();
  co_return 1U;
}
skua::task<> timeouts(std::uint64_t count) {
  std::uint64_t in_time = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    in_time += (co_await skua::timeout(1h, waits_a_little())).value_or(0);
  peers::must_be(in_time, count);
}

}  // namespace

void add_timers(questions& to) {
  to.push_back(timed("sleeps", 1'000'000, 1, sleeps));
  to.push_back(timed("timeouts", 1'000'000, 1, timeouts));
}
