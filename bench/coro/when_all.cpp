// bench/coro/when_all.cpp: the cost of awaiting several things at once.
//
// A round is one task that ends at once, awaited with others by when_all(): "two", or "thousand".
// Baseline: the same tasks, awaited one after the other. Time: run without arguments. Instructions:
//   tools/instructions.py --only two.current_thread build/release/bench/bench.coro.when_all
#include "skua/coro/when_all.hpp"

#include "runtime/flavours.hpp"
#include "support/side_by_side.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace {

constexpr int many = 1'000;

skua::task<unsigned long> one() {
  co_return 1UL;
}

skua::task<unsigned long> two_at_once(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds / 2; ++i) {
    auto [first, second] = co_await skua::when_all(one(), one());
    sum += first + second;
  }
  co_return sum;
}

skua::task<unsigned long> thousand_at_once(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds / many; ++i) {
    std::vector<skua::task<unsigned long>> all;
    all.reserve(many);
    for (int j = 0; j < many; ++j) all.push_back(one());
    for (const unsigned long value : co_await skua::when_all(std::move(all))) sum += value;
  }
  co_return sum;
}

skua::task<unsigned long> one_by_one(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await one();
  co_return sum;
}
unsigned long in_a_row(int rounds) {
  return flavours::on<one_by_one, skua::flavour::current_thread, 1>(rounds);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<two_at_once>(all, "two", 200'000, {"in a row", in_a_row});
  flavours::add<thousand_at_once>(all, "thousand", 200'000, {"in a row", in_a_row});
  return side_by_side(argc, argv, "when_all", all);
}
