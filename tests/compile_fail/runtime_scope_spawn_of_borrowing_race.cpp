// tests/compile_fail/runtime_scope_spawn_of_borrowing_race.cpp: the leaf ends with the expression.
// expect: a spawned task owns what it awaits, and this cannot be moved
#include "skua/coro/leaf.hpp"
#include "skua/coro/race.hpp"
#include "skua/runtime/with_scope.hpp"

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
skua::task<> both() {
  co_await skua::race(wait(), other());
}
skua::task<> wrong(skua::scope& children) {
  children.spawn(both());  // right
  children.spawn(skua::race(wait(), other()));
  co_return;
}
