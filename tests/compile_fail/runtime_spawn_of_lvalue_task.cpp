// tests/compile_fail/runtime_spawn_of_lvalue_task.cpp: a named task is given away by std::move.
// expect: a spawned task owns what it awaits: pass std::move\(x\)
#include "skua/runtime/spawn.hpp"

skua::task<int> answer() {
  co_return 42;
}
void wrong() {
  auto named = answer();
  skua::spawn(named).detach();
}
