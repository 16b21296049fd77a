// tests/compile_fail/fiber_run_of_coroutine.cpp: nobody would await what the function returns.
// expect: a function on a fiber returns its value: let it fiber::await\(\) what it has
#include "skua/fiber/run.hpp"

skua::task<> child() {
  co_return;
}
skua::task<> wrong() {
  co_await skua::fiber::run([] { return child(); });
}
