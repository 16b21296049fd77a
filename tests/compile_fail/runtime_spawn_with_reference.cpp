// tests/compile_fail/runtime_spawn_with_reference.cpp: arguments are the task's own; says std::ref.
// expect: wrap what is to be passed by reference in std::ref
#include "skua/runtime/spawn.hpp"

skua::task<> count(int& up) {
  ++up;
  co_return;
}

void wrong(int& total) {
  skua::spawn(count, total);
}
