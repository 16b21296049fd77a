// tests/compile_fail/coro_or_return_without_result.cpp: nobody takes the error.
// expect: or_return ends its coroutine with an error, so that must return
#include "skua/coro/or_return.hpp"

skua::task<int> wrong(skua::result<int> from) {
  co_return co_await skua::or_return(from);
}
