// skua/net/listen_options.hpp: how a TCP listener is opened.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI::net {

/// `listen_options().backlog(128).reuse_port(true)`.
class listen_options {
public:
  listen_options() noexcept = default;

  /// Connections that the kernel makes and keeps until they are accepted. As many as the system
  /// allows by default; it caps this at net.core.somaxconn.
  listen_options& backlog(int connections) noexcept {
    backlog_ = connections;
    return *this;
  }
  /// The port can be had although old connections to it are not forgotten yet. On by default: a
  /// server can be started again at once. Two listeners at one port are refused all the same.
  listen_options& reuse_address(bool on) noexcept {
    reuse_address_ = on;
    return *this;
  }
  /// Several listeners, of this user's processes, share the port, and the kernel spreads
  /// connections over them. All of them have to say so.
  listen_options& reuse_port(bool on) noexcept {
    reuse_port_ = on;
    return *this;
  }
  /// An IPv6 listener takes no IPv4 connections. Off by default, whatever the system has: `[::]` is
  /// every address of the machine.
  listen_options& v6only(bool on) noexcept {
    v6only_ = on;
    return *this;
  }
  /// Accepted connections have it set, at no cost: see tcp_stream::set_nodelay(). Off by default.
  listen_options& nodelay(bool on) noexcept {
    nodelay_ = on;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] int backlog() const noexcept { return backlog_; }
  [[nodiscard]] bool reuse_address() const noexcept { return reuse_address_; }
  [[nodiscard]] bool reuse_port() const noexcept { return reuse_port_; }
  [[nodiscard]] bool v6only() const noexcept { return v6only_; }
  [[nodiscard]] bool nodelay() const noexcept { return nodelay_; }
  ///@}

private:
  int backlog_ = 0x7fff'ffff;
  bool reuse_address_ = true;
  bool reuse_port_ = false;
  bool v6only_ = false;
  bool nodelay_ = false;
};

}  // namespace skua::inline SKUA_ABI::net
