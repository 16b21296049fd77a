// tests/compile_fail/sync_task_group_spawn_of_borrowing_select.cpp: its leaf is gone then.
// expect: a spawned task owns what it awaits, and this cannot be moved
#include "skua/coro/leaf.hpp"
#include "skua/coro/race.hpp"
#include "skua/sync/task_group.hpp"

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
void wrong(skua::task_group<skua::selected<void, void>>& group) {
  group.spawn(skua::select(wait(), other()));
}
