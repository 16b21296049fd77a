// bench/peers/skua/memory.cpp: what a task costs that waits.
#include "skua/questions.hpp"

#include <skua/coro/yield.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/sync/mpsc.hpp>
#include <skua/sync/notify.hpp>

#include <atomic>
#include <utility>

namespace {

using counter = std::atomic<std::uint64_t>;
using sender = skua::mpsc::sender<std::uint64_t>;
using receiver = skua::mpsc::receiver<std::uint64_t>;

skua::task<> wait_for(skua::notify& never, counter& waiting) {
  ++waiting;
  co_await never.wait();
  --waiting;
}
skua::task<> wait_for(receiver never, counter& waiting) {
  ++waiting;
  (void)co_await never.receive();
  --waiting;
}

skua::task<> until(const counter& is, std::uint64_t wanted) {
  while (is != wanted) co_await skua::yield();
}

skua::task<std::uint64_t> park_on_notify(std::uint64_t count) {
  skua::notify never;
  counter waiting = 0;
  const std::uint64_t before = peers::resident_bytes();
  for (std::uint64_t i = 0; i < count; ++i) skua::spawn(wait_for(never, waiting)).detach();
  co_await until(waiting, count);
  const std::uint64_t after = peers::resident_bytes();
  while (waiting != 0) {
    never.notify_all();
    co_await skua::yield();
  }
  co_return after - before;
}

skua::task<std::uint64_t> park_on_channels(std::uint64_t count) {
  std::vector<sender> silent;
  silent.reserve(count);
  counter waiting = 0;
  const std::uint64_t before = peers::resident_bytes();
  for (std::uint64_t i = 0; i < count; ++i) {
    auto [tx, rx] = skua::mpsc::channel<std::uint64_t>(1);
    silent.push_back(std::move(tx));
    skua::spawn(wait_for(std::move(rx), waiting)).detach();
  }
  co_await until(waiting, count);
  const std::uint64_t after = peers::resident_bytes();
  silent.clear();
  co_await until(waiting, 0);
  co_return after - before;
}

template <auto Park>
peers::answer measure(const peers::request& asked) {
  const std::uint64_t count = peers::scaled(asked, 1'000'000);
  skua::runtime here = start_runtime(asked);
  const auto bytes = static_cast<double>(here.block_on(Park(count)));
  return {"bytes/task", bytes / static_cast<double>(count), count};
}

}  // namespace

void add_memory(questions& to) {
  to.push_back({"memory_parked", measure<park_on_notify>});
  to.push_back({"memory_parked_channel", measure<park_on_channels>});
}
