// tests/compile_fail/fiber_await_of_lvalue_task.cpp: a task is awaited once.
// expect: is awaited once, as an rvalue: await\(std::move\(x\)\)
#include "skua/fiber/await.hpp"

skua::task<> child() {
  co_return;
}
void wrong() {
  auto one = child();
  skua::fiber::await(one);
}
