// bench/driver/timers.cpp: a timer set and removed by a driver's owner, against the bare wheel.
//
// What the lock costs, and the check whether the owner sleeps. A round is one timer in and out,
// with 1,000 others there. Time: run without arguments.
#include "driver/driver.hpp"
#include "driver/make_drivers.hpp"
#include "driver/timer_wheel.hpp"
#include "skua/base/clock.hpp"
#include "support/side_by_side.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr std::int64_t second = 1'000'000'000;

struct no_pool final : skua::offload_target {
  bool submit(skua::pool_job&) noexcept override { return false; }
  bool withdraw(skua::pool_job&) noexcept override { return false; }
};

void nothing(skua::timer&) noexcept {}

/// Deadlines some seconds ahead, as timeouts have them.
class others {
public:
  explicit others(std::int64_t now) {
    for (int i = 0; i < 1'000; ++i) {
      all_.push_back(std::make_unique<skua::timer>(nothing));
      all_.back()->deadline = now + second + i * second / 100;
    }
  }
  [[nodiscard]] const std::vector<std::unique_ptr<skua::timer>>& all() const { return all_; }

private:
  std::vector<std::unique_ptr<skua::timer>> all_;
};

template <skua::backend Which>
unsigned long through_driver(int rounds) {
  const skua::monotonic_clock time;
  no_pool pool;
  auto made = skua::make_drivers(
      {.wanted = Which, .rings = {}, .count = 1, .time = &time, .pool = &pool}, nullptr);
  if (!made) std::abort();
  skua::driver& with = *made->each[0];
  const others crowd(time.now());
  for (const auto& one : crowd.all()) with.add(*one);
  skua::timer item(nothing);
  const std::int64_t start = time.now();
  unsigned long removed = 0;
  for (int i = 0; i < rounds; ++i) {
    item.deadline = start + 3 * second + std::int64_t{i} * 1'000;
    with.add(item);
    removed += with.remove(item) ? 1U : 0U;
  }
  for (const auto& one : crowd.all()) with.remove(*one);
  return removed;
}

unsigned long through_wheel(int rounds) {
  const skua::monotonic_clock time;
  const std::int64_t start = time.now();
  skua::timer_wheel wheel(start);
  const others crowd(start);
  for (const auto& one : crowd.all()) wheel.insert(*one, start);
  skua::timer item(nothing);
  unsigned long removed = 0;
  for (int i = 0; i < rounds; ++i) {
    item.deadline = start + 3 * second + std::int64_t{i} * 1'000;
    wheel.insert(item, start);
    removed += wheel.remove(item) ? 1U : 0U;
  }
  for (const auto& one : crowd.all()) wheel.remove(*one);
  return removed;
}

}  // namespace

int main(int argc, char** argv) {
  const side bare{"wheel", through_wheel};
  const comparison all[] = {
      {"uring", 500'000, {"uring", through_driver<skua::backend::uring>}, bare},
      {"epoll", 500'000, {"epoll", through_driver<skua::backend::epoll>}, bare},
      {"none", 500'000, {"none", through_driver<skua::backend::none>}, bare},
  };
  return side_by_side(argc, argv, "a timer set and removed", all);
}
