// tests/compile_fail/runtime_blocking_call_discarded.cpp: a call that is not awaited is told.
// expect: (the call is made when it is awaited|ignoring return value)
#include "skua/runtime/spawn_blocking.hpp"

void wrong() {
  skua::spawn_blocking([] {});
}
