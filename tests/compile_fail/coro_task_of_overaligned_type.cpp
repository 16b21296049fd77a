// tests/compile_fail/coro_task_of_overaligned_type.cpp: compilers do not over-align frames.
// expect: compilers do not over-align coroutine frames
#include "skua/coro/task.hpp"

struct alignas(64) wide {
  int value;
};
skua::task<wide> wrong() {
  co_return wide{1};
}
