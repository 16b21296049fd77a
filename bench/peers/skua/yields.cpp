// bench/peers/skua/yields.cpp: tasks that give way.
#include "skua/questions.hpp"

#include <skua/coro/yield.hpp>
#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>

#include <utility>

namespace {

constexpr std::uint64_t crowd = 1'000;

skua::task<std::uint64_t> gives_way(std::uint64_t times) {
  std::uint64_t turns = 0;
  for (; turns < times; ++turns) co_await skua::yield();
  co_return turns;
}

skua::task<> yield_one(std::uint64_t count) {
  peers::must_be(co_await gives_way(count), count);
}

skua::task<> yield_many(std::uint64_t count) {
  std::vector<skua::join_handle<std::uint64_t>> all;
  all.reserve(crowd);
  for (std::uint64_t i = 0; i < crowd; ++i) all.push_back(skua::spawn(gives_way(count / crowd)));
  std::uint64_t sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  peers::must_be(sum, count);
}

}  // namespace

void add_yields(questions& to) {
  to.push_back(timed("yield_one", 1'000'000, 1, yield_one));
  to.push_back(timed("yield_many", 1'000'000, crowd, yield_many));
}
