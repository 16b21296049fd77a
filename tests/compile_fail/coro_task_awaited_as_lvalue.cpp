// tests/compile_fail/coro_task_awaited_as_lvalue.cpp: a named task is awaited by std::move.
// expect: a task or a join handle is awaited once, as an rvalue
#include "skua/coro/task.hpp"

skua::task<int> answer() {
  co_return 42;
}
skua::task<int> twice() {
  auto one = answer();
  co_return co_await one;
}
