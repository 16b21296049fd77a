// tests/consumer/main.cpp: the program of a user: includes public headers, links skua, runs.
#include <skua/base/error.hpp>
#include <skua/coro/or_return.hpp>
#include <skua/coro/sync_wait.hpp>
#include <skua/coro/task.hpp>
#include <skua/net/resolver.hpp>

#include <cstdio>

namespace {

skua::task<skua::result<int>> half(int n) {
  if (n % 2 != 0) co_return skua::fail(std::errc::invalid_argument);
  co_return n / 2;
}

skua::task<skua::result<int>> quarter(int n) {
  const int h = co_await skua::or_return(co_await half(n));
  co_return co_await half(h);
}

}  // namespace

int main() {
  const auto good = skua::sync_wait(quarter(8));
  const auto bad = skua::sync_wait(quarter(6));
  skua::check(good == 2 && bad.error() == std::errc::invalid_argument, "both arrive");
  std::printf("a quarter of 8 is %d; of 6: %s\n", *good, bad.error().message().c_str());
  skua::net::resolver names;
  const auto found = skua::sync_wait(names.lookup("127.0.0.1"));
  skua::check(found.has_value() && found->size() == 1, "a number is its own answer");
  std::printf("names are looked up by %s\n", names.backend());
}
