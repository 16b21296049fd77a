// src/net/no_cares_backend.cpp: the choice of a backend where c-ares is not there.
#include "net/dns_backend.hpp"

namespace skua::inline SKUA_ABI::net {

std::unique_ptr<dns_backend> make_dns_backend(const resolver_options& options) {
  return make_getaddrinfo_backend(options);
}

}  // namespace skua::inline SKUA_ABI::net
