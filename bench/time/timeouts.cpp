// bench/time/timeouts.cpp: the cost of a limit of time for something that keeps within it.
//
// A round is a task that gives way once, under a timeout of an hour that is made for it and taken
// back. Baseline: the same task without a timeout. Time: run without arguments. Instructions:
//   tools/instructions.py --only task.current_thread build/release/bench/bench.time.timeouts
#include "skua/time/timeout.hpp"

#include "runtime/flavours.hpp"
#include "skua/coro/yield.hpp"
#include "support/side_by_side.hpp"

#include <chrono>
#include <vector>

namespace {

using namespace std::chrono_literals;

skua::task<unsigned long> something() {
  co_await skua::yield();
  co_return 1UL;
}

skua::task<unsigned long> limited(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += (co_await skua::timeout(1h, something())).value();
  co_return sum;
}

skua::task<unsigned long> unlimited(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await something();
  co_return sum;
}
unsigned long without(int rounds) {
  return flavours::on<unlimited, skua::flavour::current_thread, 1>(rounds);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<limited>(all, "task", 100'000, {"no timeout", without});
  return side_by_side(argc, argv, "timeouts", all);
}
