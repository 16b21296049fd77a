// tools/skua/micro.cpp: small measurements of skua itself.
#include "micro.hpp"

#include <skua/coro/yield.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/runtime/spawn_blocking.hpp>
#include <skua/sync/mpsc.hpp>
#include <skua/sync/mutex.hpp>
#include <skua/time/timeout.hpp>

#include <chrono>
#include <utility>

namespace skua_tool {
namespace {

using namespace std::chrono_literals;
using number_sender = skua::mpsc::sender<std::uint64_t>;
using number_receiver = skua::mpsc::receiver<std::uint64_t>;

skua::task<> do_nothing() {
  co_return;
}

skua::task<> spawn_and_join(std::uint64_t times) {
  for (; times > 0; --times) co_await skua::spawn(do_nothing());
}

skua::task<> yield_often(std::uint64_t times) {
  for (; times > 0; --times) co_await skua::yield();
}

skua::task<> answer_each(number_receiver questions, number_sender answers) {
  while (const auto number = co_await questions.receive()) {
    const auto sent = co_await answers.send(*number);
    if (!sent) co_return;
  }
}

skua::task<> ping_pong(std::uint64_t times) {
  auto [ask, asked] = skua::mpsc::channel<std::uint64_t>(1);
  auto [answer, answered] = skua::mpsc::channel<std::uint64_t>(1);
  auto other = skua::spawn(answer_each(std::move(asked), std::move(answer)));
  for (; times > 0; --times) {
    (void)co_await ask.send(times);
    (void)co_await answered.receive();
  }
  {
    const number_sender last = std::move(ask);  // gone after this: the other ends
  }
  co_await std::move(other);
}

skua::task<> lock_and_unlock(std::uint64_t times) {
  skua::mutex lock;
  for (; times > 0; --times) {
    const auto held = co_await lock.lock();
  }
}

skua::task<> send_all(number_sender to, std::uint64_t times) {
  for (; times > 0; --times) (void)co_await to.send(times);
}

skua::task<> send_messages(std::uint64_t times) {
  auto [to, from] = skua::mpsc::channel<std::uint64_t>(128);
  auto other = skua::spawn(send_all(std::move(to), times));
  while (const auto number = co_await from.receive()) times -= *number > 0 ? 1 : 0;
  co_await std::move(other);
}

skua::task<> make_and_cancel_timers(std::uint64_t times) {
  for (; times > 0; --times) (void)co_await skua::timeout(1h, do_nothing());
}

skua::task<> call_on_the_pool(std::uint64_t times) {
  for (; times > 0; --times) (void)co_await skua::spawn_blocking([] { return 1; });
}

constexpr micro micros[] = {
    {"spawn_join", "a task spawned, and awaited", spawn_and_join},
    {"yield", "a task that gives way", yield_often},
    {"ping_pong", "a message to another task, and its answer", ping_pong},
    {"mutex", "a free mutex locked and unlocked", lock_and_unlock},
    {"mpsc", "a message through a channel of 128", send_messages},
    {"timer", "a timeout set for a task that ends before it", make_and_cancel_timers},
    {"spawn_blocking", "a call on a thread of the pool, awaited", call_on_the_pool},
};

}  // namespace

std::span<const micro> all_micros() noexcept {
  return micros;
}

}  // namespace skua_tool
