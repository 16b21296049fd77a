// tests/compile_fail/coro_sync_wait_of_lvalue.cpp: a named task is given away by std::move.
// expect: this is awaited once, as an rvalue: pass std::move\(x\)
#include "skua/coro/sync_wait.hpp"

skua::task<int> answer() {
  co_return 42;
}
int wrong() {
  auto named = answer();
  return skua::sync_wait(named);
}
