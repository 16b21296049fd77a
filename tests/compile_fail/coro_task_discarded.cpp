// tests/compile_fail/coro_task_discarded.cpp: a task that is not awaited is told.
// expect: a task does nothing until it is awaited or spawned
#include "skua/coro/task.hpp"

skua::task<int> answer() {
  co_return 42;
}
skua::task<> forgets() {
  answer();
  co_return;
}
