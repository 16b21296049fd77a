// tests/compile_fail/runtime_spawn_of_borrowing_race.cpp: the leaf ends with the expression.
// expect: a spawned task owns what it awaits, and this cannot be moved
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
  skua::spawn(skua::race(wait(), other())).detach();
}
