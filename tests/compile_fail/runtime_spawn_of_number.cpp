// tests/compile_fail/runtime_spawn_of_number.cpp: says what can be spawned.
// expect: it is no task, cannot be awaited, and is not a callable without arguments
#include "skua/runtime/spawn.hpp"

void wrong() {
  skua::spawn(5);
}
