// tests/compile_fail/runtime_block_on_of_lvalue_task.cpp: a named task is given away by std::move.
// expect: a spawned task owns what it awaits: pass std::move\(x\)
#include "skua/runtime/runtime.hpp"

skua::task<int> answer() {
  co_return 42;
}
int wrong(skua::runtime& on) {
  auto named = answer();
  return on.block_on(named);
}
