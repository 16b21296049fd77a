// tests/compile_fail/runtime_named_of_capturing_temporary.cpp: a name does not make it survive.
// expect: g\+\+ would copy this temporary's captures bitwise
// only: GNU
#include "skua/runtime/spawn.hpp"

#include <string>

skua::task<std::size_t> wrong(std::string text) {
  co_return co_await skua::spawn(skua::named("size", [text] { return text.size(); }));
}
