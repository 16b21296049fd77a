// tests/compile_fail/coro_borrowing_race_awaited_later.cpp: its leaf is gone when it is awaited.
// expect: it borrows: await it where it was made
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
  auto later = skua::race(wait(), other());
  co_await std::move(later);
}
