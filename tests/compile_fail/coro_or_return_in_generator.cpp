// tests/compile_fail/coro_or_return_in_generator.cpp: nobody takes the error.
// expect: or_return ends its coroutine with an error, so that must return
#include "skua/coro/async_generator.hpp"
#include "skua/coro/or_return.hpp"

skua::async_generator<int> wrong(skua::result<int> from) {
  co_yield co_await skua::or_return(from);
}
