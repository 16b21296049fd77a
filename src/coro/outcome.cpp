// src/coro/outcome.cpp: the cold end of reading a value that is not there.
#include "skua/coro/outcome.hpp"

#include "skua/coro/task_cancelled.hpp"

namespace skua::inline SKUA_ABI {

const char* task_cancelled::what() const noexcept {
  return "the task was cancelled and has no value";
}

void throw_missing_value(std::exception_ptr thrown) {
  if (thrown) std::rethrow_exception(std::move(thrown));
  throw task_cancelled();
}

}  // namespace skua::inline SKUA_ABI
