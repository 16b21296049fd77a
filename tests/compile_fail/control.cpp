// tests/compile_fail/control.cpp: the same headers, used rightly; must compile.
#include "skua/base/work.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/generator.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/runtime/spawn_blocking.hpp"
#include "skua/time/retry.hpp"
#include "skua/time/timeout.hpp"

#include <chrono>
#include <string>

skua::work item([](skua::work&) noexcept {});

skua::task<skua::result<int>> answer() {
  co_return 42;
}
skua::task<skua::result<int>> passes_on() {
  auto named = answer();
  co_return co_await skua::or_return(co_await std::move(named));
}
skua::generator<int> once() {
  co_yield 1;
}
skua::async_generator<int> awaits() {
  co_yield (co_await answer()).value();
}
skua::task<std::size_t> spawns(skua::runtime& on, std::string text) {
  auto named = answer();
  skua::spawn(std::move(named)).detach();
  auto size = [text] { return text.size(); };
  const std::size_t called = co_await skua::call(size);
  const std::size_t blocking = co_await skua::spawn_blocking(size);
  auto handle = on.spawn(size);
  co_return called + blocking + co_await std::move(handle);
}
int blocks(skua::runtime& on) {
  return on.block_on(answer()).value();
}
skua::task<int> tries(std::string text) {
  auto size = [text]() -> skua::task<skua::result<std::size_t>> { co_return text.size(); };
  const auto got = co_await skua::retry(skua::retry_options(), size);
  const auto in_time = co_await skua::timeout(std::chrono::seconds(1), answer());
  co_return static_cast<int>(got.value()) + in_time.value();
}
