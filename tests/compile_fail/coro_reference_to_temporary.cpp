// tests/compile_fail/coro_reference_to_temporary.cpp: a task<T&> does not return a temporary.
// expect: (no matching|no viable|could not convert|constraint)
#include "skua/coro/task.hpp"

struct wide {
  int value = 1;
};
skua::task<const wide&> wrong() {
  co_return wide();
}
