// tests/compile_fail/coro_await_of_no_awaitable.cpp: only awaitables can be awaited.
// expect: this type cannot be awaited
#include "skua/coro/task.hpp"

skua::task<int> wrong() {
  co_return co_await 42;
}
