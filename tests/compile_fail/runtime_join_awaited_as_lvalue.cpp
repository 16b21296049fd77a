// tests/compile_fail/runtime_join_awaited_as_lvalue.cpp: a named handle is awaited by std::move.
// expect: a task is awaited once, as an rvalue: co_await std::move\(task\)
#include "skua/runtime/spawn.hpp"

skua::task<int> wrong(skua::join_handle<int> handle) {
  co_return co_await handle;
}
