// bench/peers/skua/locks.cpp: a hundred tasks that want the same thing.
#include "skua/questions.hpp"

#include <skua/coro/yield.hpp>
#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/sync/mutex.hpp>
#include <skua/sync/semaphore.hpp>

#include <atomic>
#include <utility>

namespace {

constexpr std::uint64_t crowd = 100;
constexpr std::size_t permits = 10;

skua::task<> lock(skua::mutex& one, std::uint64_t& total, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto held = co_await one.lock();
    ++total;
  }
}
skua::task<> mutex_100(std::uint64_t count) {
  skua::mutex one;
  std::uint64_t total = 0;
  std::vector<skua::join_handle<void>> all;
  all.reserve(crowd);
  for (std::uint64_t i = 0; i < crowd; ++i)
    all.push_back(skua::spawn(lock(one, total, count / crowd)));
  for (auto& task : all) co_await std::move(task);
  peers::must_be(total, count);
}

skua::task<> enter(skua::semaphore& limit, std::atomic<std::uint64_t>& total, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto held = co_await limit.acquire();
    co_await skua::yield();
    ++total;
  }
}
skua::task<> semaphore(std::uint64_t count) {
  skua::semaphore limit(permits);
  std::atomic<std::uint64_t> total = 0;
  std::vector<skua::join_handle<void>> all;
  all.reserve(crowd);
  for (std::uint64_t i = 0; i < crowd; ++i)
    all.push_back(skua::spawn(enter(limit, total, count / crowd)));
  for (auto& task : all) co_await std::move(task);
  peers::must_be(total, count);
}

}  // namespace

void add_locks(questions& to) {
  to.push_back(timed("mutex_100", 1'000'000, crowd, mutex_100));
  to.push_back(timed("semaphore", 200'000, crowd, semaphore));
}
