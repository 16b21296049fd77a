// tests/sync/lost_race.hpp: a waiter that is unwound after it was given what it waits for.
#pragma once

#include "skua/coro/race.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"

namespace skua_test {

template <typename Wait>
skua::task<> waits_and_notes(Wait& wait, bool& waits, bool& got) {
  waits = true;
  (void)co_await wait();
  got = true;
}

template <typename Grant>
skua::task<> grants_and_ends(Grant& grant, const bool& waits) {
  while (!waits) co_await skua::yield();
  grant();
}

/// `wait()` gives an awaitable that has to wait; `grant()` gives it what it waits for. The one who
/// grants ends in the same step, and so wins the race. True if the other one had it all the same.
template <typename Wait, typename Grant>
skua::task<bool> got_it_and_lost(Wait& wait, Grant& grant) {
  bool waits = false;
  bool got = false;
  co_await skua::race(waits_and_notes(wait, waits, got), grants_and_ends(grant, waits));
  co_return got;
}

}  // namespace skua_test
