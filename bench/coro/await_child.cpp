// bench/coro/await_child.cpp: the cost of awaiting a trivial child, against a minimal coroutine.
//
// Both sides are noinline, so that no allocation is elided. The baseline carries a value or an
// exception and nothing else. Time: run without arguments. Instructions: tools/instructions.py.
#include "coro/hand_made.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/side_by_side.hpp"

namespace {

[[gnu::noinline]] skua::task<int> skua_child(int n) {
  co_return n;
}
[[gnu::noinline]] hand_made::task hand_made_child(int n) {
  co_return n;
}

[[gnu::noinline]] skua::task<int> skua_parent(int rounds) {
  unsigned sum = 0;
  for (int i = 0; i < rounds; ++i) sum += static_cast<unsigned>(co_await skua_child(i));
  co_return static_cast<int>(sum);
}
[[gnu::noinline]] hand_made::task hand_made_parent(int rounds) {
  unsigned sum = 0;
  for (int i = 0; i < rounds; ++i) sum += static_cast<unsigned>(co_await hand_made_child(i));
  co_return static_cast<int>(sum);
}

unsigned long run_skua(int rounds) {
  return static_cast<unsigned>(skua::sync_wait(skua_parent(rounds)));
}
unsigned long run_hand_made(int rounds) {
  return static_cast<unsigned>(hand_made_parent(rounds).run());
}

}  // namespace

int main(int argc, char** argv) {
  return side_by_side(argc, argv, "await of a trivial child", 1'000'000, {"skua", run_skua},
                      {"hand-made", run_hand_made});
}
