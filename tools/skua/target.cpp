// tools/skua/target.cpp: an address as it is written on the command line.
#include "target.hpp"

#include "failure.hpp"

#include <skua/base/error.hpp>
#include <skua/net/tcp_stream.hpp>
#include <skua/time/timeout.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace skua_tool {
namespace {

using namespace std::chrono_literals;

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};

host_and_port take_apart(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  host_and_port parts;
  if (colon != std::string::npos && colon > 0) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, parts.port);
    if (error == std::errc() && stop == end && text.find(':') == colon) {
      parts.host = text.substr(0, colon);
      return parts;
    }
  }
  throw failure("'" + text + "' is no target; write 127.0.0.1:7000, [::1]:7000 or name:7000");
}

}  // namespace

skua::task<skua::net::socket_address> find_target(std::string text) {
  const auto numeric = skua::net::socket_address::parse(text);
  if (numeric.has_value() && numeric->is_ip()) co_return *numeric;
  const host_and_port parts = take_apart(text);
  const auto made =
      co_await skua::timeout(5s, skua::net::tcp_stream::connect(parts.host, parts.port));
  skua::result<skua::net::socket_address> found = skua::fail(std::errc::not_connected);
  if (made.has_value())
    found = made->peer_address();
  else
    found = skua::fail(made.error());
  if (!found.has_value())
    throw failure("cannot connect to " + text + ": " + found.error().message());
  co_return *found;
}

}  // namespace skua_tool
