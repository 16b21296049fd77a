// examples/guide/hazards.cpp: the right forms of docs/guide/hazards.md.
#include <skua/skua.hpp>

#include <string>
#include <utility>

namespace {

// [snippet: captures]
skua::task<std::size_t> measure(std::string text) {  // a parameter lives as long as the task
  co_await skua::yield();
  co_return text.size();
}

skua::task<std::size_t> measured() {
  std::string text = "a long story";
  co_return co_await skua::spawn(measure, std::move(text));  // function and arguments, moved in
}
// [end]

skua::task<bool> is_open() {
  co_return true;
}

// [snippet: conditions]
skua::task<int> visit() {
  const bool open = co_await is_open();  // first into a variable,
  if (!open) co_return 0;                // then the condition: g++ 12 needs it
  co_return 1;
}
// [end]

skua::task<int> amain() {
  const std::size_t length = co_await measured();
  const int visits = co_await visit();
  co_return length == 12 && visits == 1 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
