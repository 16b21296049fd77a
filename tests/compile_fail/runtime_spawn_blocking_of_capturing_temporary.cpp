// tests/compile_fail/runtime_spawn_blocking_of_capturing_temporary.cpp: g++ copies it bitwise.
// expect: g\+\+ would copy this temporary's captures bitwise
// only: GNU
#include "skua/coro/task.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <string>

skua::task<std::size_t> wrong(std::string text) {
  co_return co_await skua::spawn_blocking([text] { return text.size(); });
}
