// src/net/ip_address.cpp: addresses from text and back.
#include "skua/net/ip_address.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace skua::inline SKUA_ABI::net {
namespace {

/// Text as the C library wants it: ended by a zero, which may not stand in the midst of it.
template <std::size_t Room>
class c_text {
public:
  explicit c_text(std::string_view from) noexcept
      : fits_(from.size() < Room && from.find('\0') == std::string_view::npos) {
    if (fits_) *std::ranges::copy(from, text_.begin()).out = '\0';
  }
  [[nodiscard]] bool fits() const noexcept { return fits_; }
  [[nodiscard]] const char* get() const noexcept { return text_.data(); }

private:
  std::array<char, Room> text_;
  bool fits_;
};

template <typename Bytes>
std::optional<Bytes> parse_bytes(int family, std::string_view from) noexcept {
  const c_text<INET6_ADDRSTRLEN> text(from);
  Bytes made{};
  if (!text.fits() || inet_pton(family, text.get(), made.data()) != 1) return std::nullopt;
  return made;
}

bool is_digit(char one) noexcept {
  return one >= '0' && one <= '9';
}

/// What stands behind the %.
result<std::uint32_t> parse_scope(std::string_view text) noexcept {
  std::uint32_t number = 0;
  if (std::ranges::all_of(text, is_digit)) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto [behind, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || behind != end) return fail(std::errc::invalid_argument);
    return number;
  }
  const c_text<IF_NAMESIZE> name(text);
  if (!name.fits()) return fail(std::errc::invalid_argument);
  number = if_nametoindex(name.get());
  if (number == 0) return fail(std::errc::no_such_device);
  return number;
}

}  // namespace

result<ip_address> ip_address::parse(std::string_view text) {
  if (const auto bytes = parse_bytes<v4_bytes>(AF_INET, text)) return ip_address(*bytes);
  const std::size_t mark = text.find('%');
  const auto bytes = parse_bytes<v6_bytes>(AF_INET6, text.substr(0, mark));
  if (!bytes) return fail(std::errc::invalid_argument);
  if (mark == std::string_view::npos) return ip_address(*bytes);
  const auto scope = parse_scope(text.substr(mark + 1));
  if (!scope) return fail(scope.error());
  return ip_address(*bytes, *scope);
}

std::string ip_address::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text;
  const int family = is_v6_ ? AF_INET6 : AF_INET;
  check(inet_ntop(family, bytes_.data(), text.data(), text.size()) != nullptr,
        "there is room for every address");
  std::string made(text.data());
  if (scope_ != 0) made.append("%").append(std::to_string(scope_));
  return made;
}

ip_address::v4_bytes ip_address::to_v4() const noexcept {
  check(is_v4(), "only an IPv4 address has four bytes");
  return {bytes_[0], bytes_[1], bytes_[2], bytes_[3]};
}

ip_address::v6_bytes ip_address::to_v6() const noexcept {
  if (is_v6_) return bytes_;
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, bytes_[0], bytes_[1], bytes_[2], bytes_[3]};
}

ip_address ip_address::with_scope(std::uint32_t scope) const noexcept {
  check(is_v6(), "only an IPv6 address has a scope");
  return ip_address(bytes_, scope);
}

}  // namespace skua::inline SKUA_ABI::net
