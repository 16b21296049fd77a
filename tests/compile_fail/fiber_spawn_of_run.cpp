// tests/compile_fail/fiber_spawn_of_run.cpp: run() borrows its function from the expression.
// expect: a spawned task owns what it awaits, and this cannot be moved
#include "skua/fiber/run.hpp"
#include "skua/runtime/spawn.hpp"

void wrong() {
  skua::spawn(skua::fiber::run([] { return 1; })).detach();
}
