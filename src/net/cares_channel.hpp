// src/net/cares_channel.hpp: a channel of c-ares that is destroyed by its owner.
#pragma once

#include "net/dns_backend.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"

#include <memory>
#include <system_error>

struct ares_channeldata;

namespace skua::inline SKUA_ABI::net {

/// The code in the header of a server's answer, as far as it is none.
enum class server_refusal : unsigned char { none = 0, failure = 2, unknown = 4, refused = 5 };

/// What went wrong last. c-ares goes on to the next server then, and says in the end only that it
/// could reach none.
struct cares_trouble {
  server_refusal answered = server_refusal::none;
  std::error_code no_socket;
};

struct destroy_channel {
  void operator()(ares_channeldata* channel) const noexcept;
};
/// Destroyed, it calls back for what is open with ARES_EDESTRUCTION, and closes its sockets.
using cares_channel = std::unique_ptr<ares_channeldata, destroy_channel>;

/// With the settings of the system, where the options have none. Reads files: blocks.
[[nodiscard]] result<cares_channel> open_channel(const resolver_options& options);
/// With the settings of `from`, which nobody changes meanwhile. Reads no settings. `trouble`
/// outlives the channel.
[[nodiscard]] result<cares_channel> copy_channel(const cares_channel& from, cares_trouble& trouble);

/// What ARES_E... means; not of success.
[[nodiscard]] std::error_code error_of_cares(int status, const cares_trouble& before) noexcept;

}  // namespace skua::inline SKUA_ABI::net
