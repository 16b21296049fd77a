// tests/compile_fail/sync_oneshot_awaited_as_lvalue.cpp: a oneshot is awaited by std::move.
// expect: awaited once, as an rvalue
#include "skua/coro/task.hpp"
#include "skua/sync/oneshot.hpp"

skua::task<int> wrong(skua::oneshot::receiver<int> from) {
  co_return (co_await from).value_or(0);
}
