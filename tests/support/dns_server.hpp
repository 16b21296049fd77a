// tests/support/dns_server.hpp: dnsmasq on a free port of the loopback interface.
#pragma once

#include "skua/driver/unique_fd.hpp"
#include "skua/net/socket_address.hpp"

#include <string>
#include <vector>

namespace skua_test {

/// A server of the zone test. and nothing else: unknown names in it do not exist, all others are
/// refused. Runs until it is destroyed.
class dns_server {
public:
  /// `arguments`: --host-record=a.test,192.0.2.1 and the like.
  explicit dns_server(std::vector<std::string> arguments);
  dns_server(const dns_server&) = delete;
  dns_server& operator=(const dns_server&) = delete;
  ~dns_server();

  /// False if there is no dnsmasq: skip the test, for want of the Debian package dnsmasq-base.
  [[nodiscard]] bool runs() const { return process_ > 0; }
  [[nodiscard]] const skua::net::socket_address& address() const { return address_; }

private:
  bool start(const std::vector<std::string>& arguments);
  bool has_started();

  skua::net::socket_address address_;
  int process_ = 0;
  skua::unique_fd log_;
};

}  // namespace skua_test
