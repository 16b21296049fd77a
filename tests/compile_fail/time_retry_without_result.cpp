// tests/compile_fail/time_retry_without_result.cpp: nothing tells whether it failed.
// expect: retry\(\) tells by a result<T> whether it has to try again
#include "skua/time/retry.hpp"

skua::task<int> answer() {
  co_return 42;
}
skua::task<> wrong() {
  static_cast<void>(co_await skua::retry(skua::retry_options(), answer));
}
