// tests/compile_fail/time_retry_of_capturing_temporary.cpp: g++ would copy it bitwise.
// expect: g\+\+ would copy this temporary's captures bitwise
// only: GNU
#include "skua/time/retry.hpp"

#include <string>

skua::task<> wrong(std::string text) {
  auto got = co_await skua::retry(
      skua::retry_options(),
      [text]() -> skua::task<skua::result<std::size_t>> { co_return text.size(); });
}
