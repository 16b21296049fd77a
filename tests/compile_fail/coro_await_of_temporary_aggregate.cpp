// tests/compile_fail/coro_await_of_temporary_aggregate.cpp: g++ would copy it bitwise.
// expect: g\+\+ would copy this temporary aggregate bitwise
// only: GNU
#include "skua/coro/task.hpp"

#include <string>

struct aggregate {
  std::string text;
  bool await_ready() const { return true; }
  void await_suspend(std::coroutine_handle<>) const {}
  int await_resume() const { return 1; }
};
skua::task<int> wrong() {
  co_return co_await aggregate{"text"};
}
