// skua/net/peer_credentials.hpp: who is at the other end of a Unix stream.
#pragma once

#include "skua/base/abi.hpp"

#include <sys/types.h>

namespace skua::inline SKUA_ABI::net {

/// As the kernel noted them when the connection (or the pair) was made; nobody can forge them. The
/// process may have ended since, and its number may be another's.
struct peer_credentials {
  pid_t process = 0;  ///< its number
  uid_t user = 0;     ///< whose it was
  gid_t group = 0;    ///< its group, as it was
};

}  // namespace skua::inline SKUA_ABI::net
