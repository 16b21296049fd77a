// skua/net/dns_error.hpp: why a name has no address.
#pragma once

#include "skua/base/abi.hpp"

#include <system_error>
#include <type_traits>

namespace skua::inline SKUA_ABI::net {

/// What a resolver can say of a name, besides the errors of the system (descriptors, memory).
enum class dns_errc {
  not_found = 1,   ///< there is no such name (NXDOMAIN)
  no_data,         ///< the name exists, but has no address of the wanted kind
  server_failure,  ///< the servers answered that they could not find out (SERVFAIL)
  refused,         ///< the servers do not answer us (REFUSED)
  timed_out,       ///< no server answered in time; also equals std::errc::timed_out
  unreachable,     ///< no server could be reached, or none is configured
  bad_response,    ///< a server answered what makes no sense
  bad_name,        ///< no name of a host; also equals std::errc::invalid_argument
};

/// The category of dns_errc, "dns". Valid to the very end of the process.
[[nodiscard, gnu::visibility("default")]] const std::error_category& dns_category() noexcept;

/// Lets a dns_errc be compared with, and become, a std::error_code.
[[nodiscard]] inline std::error_code make_error_code(dns_errc error) noexcept {
  return {static_cast<int>(error), dns_category()};
}

}  // namespace skua::inline SKUA_ABI::net

template <>
struct std::is_error_code_enum<skua::net::dns_errc> : std::true_type {};
