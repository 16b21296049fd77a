// examples/demo.cpp: what skua does today: tasks on every core, results, streams, cancellation.
#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <utility>

namespace {

using namespace std::chrono_literals;

// Parallel work: each half of the tree is a task of its own, and workers steal what others have.
skua::task<long> count_leaves(int depth) {
  if (depth == 0) co_return 1;
  auto left = skua::spawn(count_leaves, depth - 1);
  const long right = co_await count_leaves(depth - 1);
  co_return co_await std::move(left) + right;
}

// Results: an error ends the coroutine at the line that met it.
skua::task<skua::result<int>> half(int n) {
  if (n % 2 != 0) co_return skua::fail(std::errc::invalid_argument);
  co_return n / 2;
}
skua::task<skua::result<int>> quarter(int n) {
  const int h = co_await skua::or_return(co_await half(n));
  co_return co_await half(h);
}

// A stream, and a task that reads it.
skua::async_generator<int> countdown(int from) {
  for (int n = from; n > 0; --n) {
    co_await skua::yield();
    co_yield n;
  }
}
skua::task<int> sum_of_countdown(int from) {
  int sum = 0;
  auto numbers = countdown(from);
  while (auto n = co_await numbers.next()) sum += *n;
  co_return sum;
}

// Cancellation: an endless task; its destructors run when it is stopped.
struct farewell {
  farewell() = default;
  farewell(const farewell&) = delete;
  farewell& operator=(const farewell&) = delete;
  ~farewell() { std::puts("  the endless task was stopped, and has cleaned up"); }
};
skua::task<> endless() {
  const farewell says;
  for (;;) co_await skua::yield();
}

skua::task<int> amain() {
  std::printf("  %ld leaves counted by tasks\n", co_await count_leaves(16));

  for (const int n : {8, 6}) {
    const auto q = co_await quarter(n);
    if (q)
      std::printf("  a quarter of %d is %d\n", n, *q);
    else
      std::printf("  no quarter of %d: %s\n", n, q.error().message().c_str());
  }

  auto sum = skua::spawn(skua::named("adder", sum_of_countdown(100)));
  std::printf("  100 + 99 + ... + 1 = %d\n", co_await std::move(sum));

  const int slow = co_await skua::spawn_blocking([](int n) { return n * 2; }, 21);
  std::printf("  a blocking call, on a thread of its own, says %d\n", slow);

  auto forever = skua::spawn(skua::named("endless", endless()));
  co_await skua::yield();
  forever.abort();
  const auto end = co_await forever.outcome();
  std::printf("  stopped: %s\n", end.stopped() ? "yes" : "no");
  co_return 0;
}

}  // namespace

int main() {
  auto rt = skua::runtime::builder().name("demo").build();
  if (!rt) {
    const auto why = rt.error().message();
    std::fprintf(stderr, "demo: %.*s\n", static_cast<int>(why.size()), why.data());
    return 1;
  }
  const int answer = rt->block_on(amain());

  const auto seen = rt->metrics();
  std::printf("%llu tasks, %llu cancelled, %llu left; by worker:\n",
              static_cast<unsigned long long>(seen.spawned),
              static_cast<unsigned long long>(seen.cancelled),
              static_cast<unsigned long long>(seen.live));
  for (const auto& worker : seen.workers)
    std::printf("  %llu turns, %llu from the slot, %llu items stolen (%llu times), %llu sleeps\n",
                static_cast<unsigned long long>(worker.polls),
                static_cast<unsigned long long>(worker.lifo_hits),
                static_cast<unsigned long long>(worker.items_stolen),
                static_cast<unsigned long long>(worker.steals),
                static_cast<unsigned long long>(worker.parks));
  return rt->shutdown(5s).complete() ? answer : 1;
}
