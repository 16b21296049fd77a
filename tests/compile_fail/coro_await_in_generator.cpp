// tests/compile_fail/coro_await_in_generator.cpp: a synchronous generator cannot await.
// expect: a skua::generator cannot co_await; make it a skua::async_generator
#include "skua/coro/generator.hpp"
#include "skua/coro/task.hpp"

skua::task<int> answer() {
  co_return 42;
}
skua::generator<int> wrong() {
  co_yield co_await answer();
}
