// tests/compile_fail/coro_task_in_foreign_coroutine.cpp: it has no context.
// expect: this can be awaited only in a skua coroutine
#include "skua/coro/task.hpp"

struct foreign {
  struct promise_type {
    foreign get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}
  };
};

skua::task<int> answer() {
  co_return 42;
}
foreign wrong() {
  (void)co_await answer();
}
