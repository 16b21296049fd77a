// tests/compile_fail/fiber_or_return.cpp: there is no coroutine that it could end.
// expect: or_return ends its coroutine with an error
#include "skua/base/error.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/fiber/await.hpp"

void wrong(skua::result<int> one) {
  skua::fiber::await(skua::or_return(std::move(one)));
}
