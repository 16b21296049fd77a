// src/net/socket_address.cpp: the kernel's forms of addresses, made, read and written.
#include "skua/net/socket_address.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

namespace skua::inline SKUA_ABI::net {
namespace {

constexpr std::size_t name_begins = offsetof(sockaddr_un, sun_path);
constexpr std::size_t name_room = sizeof(sockaddr_un::sun_path);
constexpr std::string_view unix_prefix = "unix:";

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [behind, error] = std::from_chars(begin, end, port);
  if (error != std::errc() || behind != end || text.size() > 5) return std::nullopt;
  return port;
}

result<socket_address> parse_ip(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail(std::errc::invalid_argument);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return fail(std::errc::invalid_argument);
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = ip_address::parse(host);
  if (!address) return fail(address.error());
  if (address->is_v6() != bracketed) return fail(std::errc::invalid_argument);
  return socket_address(*address, *port);
}

bool is_plain(char one) noexcept {
  return one >= ' ' && one <= '~' && one != '\\';
}

void append_escaped(std::string& to, char one) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(one);
  to += "\\x";
  to += digits[byte >> 4U];
  to += digits[byte & 15U];
}

std::string escaped(std::string_view name) {
  std::string made;
  for (const char one : name) {
    if (is_plain(one))
      made += one;
    else
      append_escaped(made, one);
  }
  return made;
}

result<std::string> unescaped(std::string_view text) {
  constexpr std::size_t length = 4;  // \xff
  std::string made;
  while (!text.empty()) {
    if (text.front() != '\\') {
      made += text.front();
      text.remove_prefix(1);
      continue;
    }
    unsigned char byte = 0;
    if (text.size() < length || text[1] != 'x') return fail(std::errc::invalid_argument);
    const char* const end = text.data() + length;
    const auto [behind, error] = std::from_chars(text.data() + 2, end, byte, 16);
    if (error != std::errc() || behind != end) return fail(std::errc::invalid_argument);
    made += static_cast<char>(byte);
    text.remove_prefix(length);
  }
  return made;
}

result<socket_address> parse_unix_name(std::string_view name) {
  const bool abstract = name.starts_with('@');
  if (abstract) name.remove_prefix(1);
  const auto plain = unescaped(name);
  if (!plain) return fail(plain.error());
  return abstract ? socket_address::unix_abstract(*plain) : socket_address::unix_path(*plain);
}

}  // namespace

/// Through memcpy, since the bytes are no object of any of these types.
template <typename System>
void socket_address::put(const System& from, std::size_t length) noexcept {
  static_assert(sizeof(System) <= room);
  std::memcpy(bytes_.data(), &from, length);
  size_ = static_cast<unsigned>(length);
}

template <typename System>
System socket_address::as() const noexcept {
  System made;
  std::memcpy(&made, bytes_.data(), sizeof made);
  return made;
}

socket_address::socket_address() noexcept {
  put(sa_family_t{AF_UNSPEC}, sizeof(sa_family_t));
}

socket_address::socket_address(const ip_address& address, std::uint16_t port) noexcept {
  if (address.is_v4()) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(port);
    made.sin_addr = std::bit_cast<in_addr>(address.to_v4());
    put(made, sizeof made);
  } else {
    sockaddr_in6 made{};
    made.sin6_family = AF_INET6;
    made.sin6_port = htons(port);
    made.sin6_addr = std::bit_cast<in6_addr>(address.to_v6());
    made.sin6_scope_id = address.scope();
    put(made, sizeof made);
  }
}

/// `name` begins with a zero if it is an abstract one; a path is ended by one, if there is room.
socket_address socket_address::of_unix(std::string_view name) noexcept {
  sockaddr_un system{};
  system.sun_family = AF_UNIX;
  std::ranges::copy(name, system.sun_path);
  const bool ended_by_zero = !name.empty() && name.front() != '\0' && name.size() < name_room;
  socket_address made;
  made.put(system, name_begins + name.size() + (ended_by_zero ? 1 : 0));
  return made;
}

result<socket_address> socket_address::unix_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return fail(std::errc::invalid_argument);
  if (path.size() >= name_room) return fail(std::errc::filename_too_long);
  return of_unix(path);
}

result<socket_address> socket_address::unix_abstract(std::string_view name) {
  if (name.empty()) return fail(std::errc::invalid_argument);
  if (name.size() >= name_room) return fail(std::errc::filename_too_long);
  return of_unix(std::string(1, '\0').append(name));
}

socket_address socket_address::unix_unnamed() noexcept {
  return of_unix({});
}

result<socket_address> socket_address::parse(std::string_view text) {
  if (!text.starts_with(unix_prefix)) return parse_ip(text);
  return parse_unix_name(text.substr(unix_prefix.size()));
}

std::string socket_address::to_string() const {
  if (family() == AF_UNSPEC) return "unspecified";
  if (is_ip()) {
    const std::string host = ip().to_string();
    const std::string behind = ":" + std::to_string(port());
    return family() == AF_INET6 ? "[" + host + "]" + behind : host + behind;
  }
  std::string made(unix_prefix);
  if (unix_name().starts_with('\0')) return made + "@" + escaped(abstract_name());
  const std::string_view name = path();
  if (!name.starts_with('@')) return made + escaped(name);
  append_escaped(made, '@');
  return made + escaped(name.substr(1));
}

namespace {

template <typename System>
std::optional<System> read_as(const sockaddr* from, std::size_t length) noexcept {
  System made{};
  if (length < sizeof made) return std::nullopt;
  std::memcpy(&made, from, sizeof made);
  return made;
}

}  // namespace

result<socket_address> socket_address::of(const sockaddr* from, std::size_t length) noexcept {
  const auto family = read_as<sa_family_t>(from, length);
  if (!family) return fail(std::errc::invalid_argument);
  if (*family == AF_UNSPEC) return socket_address();
  if (*family == AF_UNIX) {
    const std::string_view name(reinterpret_cast<const char*>(from) + name_begins,
                                std::min(length - name_begins, name_room));
    if (name.starts_with('\0')) return of_unix(name);
    return of_unix(name.substr(0, name.find('\0')));
  }
  if (*family == AF_INET) {
    const auto v4 = read_as<sockaddr_in>(from, length);
    if (!v4) return fail(std::errc::invalid_argument);
    return socket_address(ip_address(std::bit_cast<ip_address::v4_bytes>(v4->sin_addr)),
                          ntohs(v4->sin_port));
  }
  if (*family != AF_INET6) return fail(std::errc::address_family_not_supported);
  const auto v6 = read_as<sockaddr_in6>(from, length);
  if (!v6) return fail(std::errc::invalid_argument);
  const auto bytes = std::bit_cast<ip_address::v6_bytes>(v6->sin6_addr);
  return socket_address(ip_address(bytes, v6->sin6_scope_id), ntohs(v6->sin6_port));
}

int socket_address::family() const noexcept {
  return as<sa_family_t>();
}

bool socket_address::is_ip() const noexcept {
  return family() == AF_INET || family() == AF_INET6;
}

bool socket_address::is_unix() const noexcept {
  return family() == AF_UNIX;
}

ip_address socket_address::ip() const noexcept {
  check(is_ip(), "only an address of the internet has an IP address");
  if (family() == AF_INET)
    return ip_address(std::bit_cast<ip_address::v4_bytes>(as<sockaddr_in>().sin_addr));
  const auto v6 = as<sockaddr_in6>();
  return ip_address(std::bit_cast<ip_address::v6_bytes>(v6.sin6_addr), v6.sin6_scope_id);
}

std::uint16_t socket_address::port() const noexcept {
  check(is_ip(), "only an address of the internet has a port");
  return ntohs(as<sockaddr_in>().sin_port);  // at the same place in both versions
}

socket_address socket_address::with_port(std::uint16_t port) const noexcept {
  return {ip(), port};
}

std::string_view socket_address::unix_name() const noexcept {
  if (!is_unix()) return {};
  return {reinterpret_cast<const char*>(bytes_.data()) + name_begins, size_ - name_begins};
}

std::string_view socket_address::path() const noexcept {
  const std::string_view name = unix_name();
  return name.starts_with('\0') ? std::string_view() : name.substr(0, name.find('\0'));
}

std::string_view socket_address::abstract_name() const noexcept {
  const std::string_view name = unix_name();
  return name.starts_with('\0') ? name.substr(1) : std::string_view();
}

const sockaddr* socket_address::data() const noexcept {
  return reinterpret_cast<const sockaddr*>(bytes_.data());
}

}  // namespace skua::inline SKUA_ABI::net
