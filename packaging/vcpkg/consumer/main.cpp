// packaging/vcpkg/consumer/main.cpp: a task, a fiber, and a name that needs no name server.
#include <skua/fiber.hpp>
#include <skua/skua.hpp>

#include <cstdio>

namespace {

int twice(int n) {
  skua::fiber::await(skua::yield());
  return 2 * n;
}

skua::task<int> amain() {
  skua::net::resolver names;
  const auto found = skua::or_throw(co_await names.lookup("127.0.0.1"));
  const int four = co_await skua::fiber::run([] { return twice(2); });
  std::printf("names are looked up by %s; twice 2 is %d\n", names.backend(), four);
  co_return found.size() == 1 && four == 4 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
