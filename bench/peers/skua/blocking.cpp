// bench/peers/skua/blocking.cpp: a call on a thread that may block, there and back.
#include "skua/questions.hpp"

#include <skua/runtime/spawn_blocking.hpp>

namespace {

std::uint64_t number(std::uint64_t n) {
  return n;
}
skua::task<> calls(std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await skua::spawn_blocking(number, i);
  peers::must_be(sum, peers::sum_below(count));
}

}  // namespace

void add_blocking(questions& to) {
  to.push_back(timed("spawn_blocking", 20'000, 1, calls));
}
