// skua/net/unix_listen_options.hpp: how a Unix listener is opened.
#pragma once

#include "skua/base/abi.hpp"

#include <optional>

namespace skua::inline SKUA_ABI::net {

/// `unix_listen_options().replace_stale(true).permissions(0600)`.
class unix_listen_options {
public:
  unix_listen_options() noexcept = default;

  /// Connections that wait to be accepted. As many as the system allows by default.
  unix_listen_options& backlog(int connections) noexcept {
    backlog_ = connections;
    return *this;
  }
  /// A socket that is in the way, and at which nobody listens, is removed: a server that crashed
  /// has left it. One at which somebody listens, or another kind of file, is still address_in_use.
  /// Two servers that start at once may both find it stale; the later one wins. Off by default.
  unix_listen_options& replace_stale(bool on) noexcept {
    replace_stale_ = on;
    return *this;
  }
  /// Who may connect: the mode of the file, less the umask. By default all that the umask allows.
  unix_listen_options& permissions(unsigned mode) noexcept {
    permissions_ = mode;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] int backlog() const noexcept { return backlog_; }
  [[nodiscard]] bool replace_stale() const noexcept { return replace_stale_; }
  [[nodiscard]] std::optional<unsigned> permissions() const noexcept { return permissions_; }
  ///@}

private:
  int backlog_ = 0x7fff'ffff;
  bool replace_stale_ = false;
  std::optional<unsigned> permissions_;
};

}  // namespace skua::inline SKUA_ABI::net
