// tests/compile_fail/time_spawn_of_borrowing_timeout.cpp: the leaf ends with the expression.
// expect: a spawned task owns what it awaits, and this cannot be moved
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/time/sleep.hpp"
#include "skua/time/timeout.hpp"

#include <chrono>

void wrong() {
  using namespace std::chrono_literals;
  skua::spawn(skua::timeout(1s, skua::race(skua::sleep(2s), skua::sleep(3s)))).detach();
}
