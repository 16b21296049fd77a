// tests/compile_fail/coro_borrowing_race_returned_as_task.cpp: its leaf is gone then.
// expect: in_place_task
#include "skua/coro/leaf.hpp"
#include "skua/coro/race.hpp"

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
skua::task<> wrong() {
  return skua::race(wait(), other());
}
