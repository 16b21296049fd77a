// tests/compile_fail/runtime_join_awaited_as_lvalue.cpp: a named handle is awaited by std::move.
// expect: a task or a join handle is awaited once, as an rvalue
#include "skua/runtime/spawn.hpp"

skua::task<int> wrong(skua::join_handle<int> handle) {
  co_return co_await handle;
}
