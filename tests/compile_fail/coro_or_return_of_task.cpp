// tests/compile_fail/coro_or_return_of_task.cpp: the task must be awaited first.
// expect: or_return takes a result: co_await skua::or_return\(co_await task\)
#include "skua/coro/or_return.hpp"

skua::task<skua::result<int>> answer() {
  co_return 42;
}
skua::task<skua::result<int>> wrong() {
  co_return co_await skua::or_return(answer());
}
