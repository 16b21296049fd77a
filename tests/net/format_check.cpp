// tests/net/format_check.cpp: addresses in std::format(), with a standard library that has it.
//
// Without GoogleTest, which is compiled for the other one.
#include "skua/net/format.hpp"

#include <cstdio>
#include <format>
#include <string>

namespace {

using skua::net::ip_address;
using skua::net::socket_address;

int wrong = 0;

void expect_equal(const std::string& got, const std::string& expected) {
  if (got == expected) return;
  std::printf("got \"%s\" instead of \"%s\"\n", got.c_str(), expected.c_str());
  ++wrong;
}

}  // namespace

int main() {
  const ip_address four = ip_address::v4(192, 0, 2, 1);
  const socket_address six(ip_address::v6_loopback(), 80);
  expect_equal(std::format("{}", four), "192.0.2.1");
  expect_equal(std::format("[{:>12}]", four), "[   192.0.2.1]");
  expect_equal(std::format("{} and {:*<9}", six, six), "[::1]:80 and [::1]:80*");
  expect_equal(std::format("{:.{}}", four, 3), "192");
  return wrong == 0 ? 0 : 1;
}
