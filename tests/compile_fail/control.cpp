// tests/compile_fail/control.cpp: the same headers, used rightly; must compile.
#include "skua/base/work.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/generator.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/task.hpp"

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
