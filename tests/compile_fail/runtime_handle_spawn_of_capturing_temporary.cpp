// tests/compile_fail/runtime_handle_spawn_of_capturing_temporary.cpp: like skua::spawn().
// expect: g\+\+ would copy this temporary's captures bitwise
// only: GNU
#include "skua/runtime/runtime.hpp"

#include <string>

skua::task<std::size_t> wrong(skua::runtime_handle at, std::string text) {
  co_return co_await at.spawn([text] { return text.size(); });
}
