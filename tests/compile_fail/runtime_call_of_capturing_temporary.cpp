// tests/compile_fail/runtime_call_of_capturing_temporary.cpp: g++ would copy it bitwise.
// expect: g\+\+ would copy this temporary's captures bitwise
// only: GNU
#include "skua/runtime/call.hpp"

#include <string>

skua::task<std::size_t> wrong(std::string text) {
  co_return co_await skua::call([text] { return text.size(); });
}
