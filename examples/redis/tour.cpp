// examples/redis/tour.cpp: a pipeline, a half command, a subscription.
#include "tour.hpp"

#include <skua/skua.hpp>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace redis {
namespace {

skua::task<> say(skua::net::tcp_stream& to, std::string_view text) {
  skua::or_throw(co_await to.write_all(std::as_bytes(std::span(text))));
}

// Reads as much as is expected, and compares.
skua::task<bool> hear(skua::net::tcp_stream& from, std::string_view expected) {
  std::string heard(expected.size(), '\0');
  skua::or_throw(co_await skua::io::read_exactly(from, std::as_writable_bytes(std::span(heard))));
  std::printf("%s", heard.c_str());
  co_return heard == expected;
}

}  // namespace

skua::task<> tour(skua::net::socket_address server, bool& right) {
  auto one = skua::or_throw(co_await skua::net::tcp_stream::connect(server));
  auto other = skua::or_throw(co_await skua::net::tcp_stream::connect(server));
  co_await say(one, "SET bird skua\r\nGET bird\r\nINCR flights\r\n*2\r\n$3\r\nGE");
  bool well = co_await hear(one, "+OK\r\n$4\r\nskua\r\n:1\r\n");
  co_await say(one, "T\r\n$4\r\nfish\r\n");
  well &= co_await hear(one, "$-1\r\n");
  co_await say(other, "SUBSCRIBE news\r\n");
  well &= co_await hear(other, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
  co_await say(one, "PUBLISH news landed\r\n");
  well &= co_await hear(one, ":1\r\n");
  well &= co_await hear(other, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$6\r\nlanded\r\n");
  right = well;
}

}  // namespace redis
