// bench/fiber/switch.cpp: what a fiber costs more than a coroutine, where both do the same.
//
// "yield": a round gives way once, at the top level. "deep": a round waits at the bottom of ten
// calls, which a coroutine does by ten nested awaits. "call": a round runs a function that does
// not wait, on a fiber, and in a coroutine. Baseline: the coroutine, on the same kind of runtime.
#include "runtime/flavours.hpp"
#include "skua/coro/yield.hpp"
#include "skua/fiber.hpp"
#include "support/side_by_side.hpp"

#include <string>
#include <vector>

namespace {

constexpr int depth = 10;

skua::task<unsigned long> fiber_yields(int rounds) {
  co_return co_await skua::fiber::run([&] {
    unsigned long turns = 0;
    for (int i = 0; i < rounds; ++i) {
      skua::fiber::await(skua::yield());
      ++turns;
    }
    return turns;
  });
}
skua::task<unsigned long> coroutine_yields(int rounds) {
  unsigned long turns = 0;
  for (int i = 0; i < rounds; ++i) {
    co_await skua::yield();
    ++turns;
  }
  co_return turns;
}

[[gnu::noinline]] unsigned long fiber_descends(int left) {
  if (left == 0) {
    skua::fiber::await(skua::yield());
    return 1;
  }
  return fiber_descends(left - 1) + 1;
}
skua::task<unsigned long> fiber_deep(int rounds) {
  co_return co_await skua::fiber::run([&] {
    unsigned long sum = 0;
    for (int i = 0; i < rounds; ++i) sum += fiber_descends(depth);
    return sum;
  });
}
skua::task<unsigned long> coroutine_descends(int left) {
  if (left == 0) {
    co_await skua::yield();
    co_return 1UL;
  }
  co_return co_await coroutine_descends(left - 1) + 1;
}
skua::task<unsigned long> coroutine_deep(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await coroutine_descends(depth);
  co_return sum;
}

skua::task<unsigned long> fiber_calls(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await skua::fiber::run([] { return 1UL; });
  co_return sum;
}
skua::task<unsigned long> one() {
  co_return 1UL;
}
skua::task<unsigned long> coroutine_calls(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await one();
  co_return sum;
}

template <auto Fiber, auto Coroutine>
void add(std::vector<comparison>& to, const std::string& name, int rounds) {
  using enum skua::flavour;
  to.push_back({name + ".current_thread",
                rounds,
                {"fiber", flavours::on<Fiber, current_thread, 1>},
                {"coroutine", flavours::on<Coroutine, current_thread, 1>}});
  to.push_back({name + ".1_worker",
                rounds,
                {"fiber", flavours::on<Fiber, multi_thread, 1>},
                {"coroutine", flavours::on<Coroutine, multi_thread, 1>}});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  add<fiber_yields, coroutine_yields>(all, "yield", 300'000);
  add<fiber_deep, coroutine_deep>(all, "deep", 100'000);
  add<fiber_calls, coroutine_calls>(all, "call", 100'000);
  return side_by_side(argc, argv, "fiber", all);
}
