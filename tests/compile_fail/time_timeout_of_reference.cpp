// tests/compile_fail/time_timeout_of_reference.cpp: a result has no place for a reference.
// expect: a result holds no reference: give a pointer
#include "skua/time/timeout.hpp"

#include <chrono>

skua::task<int&> number(int& where) {
  co_return where;
}
skua::task<> wrong(int& where) {
  static_cast<void>(co_await skua::timeout(std::chrono::seconds(1), number(where)));
}
