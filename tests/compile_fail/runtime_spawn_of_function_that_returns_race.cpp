// tests/compile_fail/runtime_spawn_of_function_that_returns_race.cpp: its leaf is gone.
// expect: this borrows from the function that returns it
#include "skua/coro/leaf.hpp"
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"

class wait final : public skua::leaf {
public:
  void await_resume() const noexcept {}

private:
  void start() noexcept override { complete(); }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }
};
skua::task<> other() {
  co_return;
}
void wrong() {
  skua::spawn([] { return skua::race(wait(), other()); }).detach();
}
