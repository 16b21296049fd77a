// tests/consumer/fiber/main.cpp: the program of a user of fibers.
#include <skua/fiber.hpp>
#include <skua/skua.hpp>

#include <cstdio>

namespace {

skua::task<int> half(int n) {
  co_await skua::yield();
  co_return n / 2;
}

int quarter(int n) {
  return skua::fiber::await(half(skua::fiber::await(half(n))));
}

skua::task<int> amain() {
  const int found = co_await skua::fiber::spawn(quarter, 8);
  std::printf("a quarter of 8 is %d\n", found);
  co_return found == 2 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
