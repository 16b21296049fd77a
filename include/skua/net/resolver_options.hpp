// skua/net/resolver_options.hpp: whom a resolver asks, for how long, and what it remembers.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/duration.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/time/time_span.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::net {

/// `resolver_options().timeout(500ms).tries(2).cache_entries(10'000)`. What makes no sense ends the
/// program, and says so.
class resolver_options {
public:
  /// Who is asked, in this order: the servers in /etc/resolv.conf. With servers of the caller's,
  /// the domains in that file are not tried behind a short name. Where skua was built without
  /// c-ares, lookups then fail with std::errc::operation_not_supported.
  resolver_options& servers(std::vector<socket_address> whom) {
    for (const socket_address& one : whom)
      check(one.is_ip() && one.port() != 0, "resolver: a server has an IP address and a port");
    servers_ = std::move(whom);
    return *this;
  }

  /// How long one server has to answer the first time: 2 s. After a round of all servers each has
  /// twice as long. Without c-ares: as /etc/resolv.conf says.
  template <duration_like Duration>
  resolver_options& timeout(Duration length) noexcept {
    timeout_ = time_span(length);
    check(timeout_.count() > 0, "resolver: a server gets some time to answer");
    return *this;
  }

  /// How often each server is asked, the first time included: 3. Without c-ares: as
  /// /etc/resolv.conf says.
  resolver_options& tries(std::uint32_t most) noexcept {
    check(most > 0 && most < 100, "resolver: a server is asked once at least, and not for ever");
    tries_ = most;
    return *this;
  }

  /// How many answers are remembered, one for each name and version of IP: 1,024. What was not
  /// asked for longest is forgotten first. 0: none.
  resolver_options& cache_entries(std::size_t most) noexcept {
    cache_entries_ = most;
    return *this;
  }

  /// An answer is remembered as long as its servers say, but not longer than this: 1 hour.
  template <duration_like Duration>
  resolver_options& longest_ttl(Duration length) noexcept {
    longest_ttl_ = not_negative(length);
    return *this;
  }

  /// How long is remembered that there is no such name, or no address of that kind: 5 s.
  template <duration_like Duration>
  resolver_options& negative_ttl(Duration length) noexcept {
    negative_ttl_ = not_negative(length);
    return *this;
  }

  /// How long an answer is remembered of which nobody said how long it holds, such as one from the
  /// hosts file: 5 s.
  template <duration_like Duration>
  resolver_options& unknown_ttl(Duration length) noexcept {
    unknown_ttl_ = not_negative(length);
    return *this;
  }

  /// Names in this file are not asked for: /etc/hosts. It is read again when it has changed. Empty:
  /// none.
  resolver_options& hosts_file(std::string path) {
    hosts_file_ = std::move(path);
    return *this;
  }

  /// How many queries are under way at a time: 64. Each has a socket of its own, or several. Those
  /// that come later wait, in order.
  resolver_options& queries_at_once(std::size_t most) noexcept {
    check(most > 0, "resolver: there is at least one query at a time");
    queries_at_once_ = most;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] const std::vector<socket_address>& servers() const noexcept { return servers_; }
  [[nodiscard]] time_span timeout() const noexcept { return timeout_; }
  [[nodiscard]] std::uint32_t tries() const noexcept { return tries_; }
  [[nodiscard]] std::size_t cache_entries() const noexcept { return cache_entries_; }
  [[nodiscard]] time_span longest_ttl() const noexcept { return longest_ttl_; }
  [[nodiscard]] time_span negative_ttl() const noexcept { return negative_ttl_; }
  [[nodiscard]] time_span unknown_ttl() const noexcept { return unknown_ttl_; }
  [[nodiscard]] const std::string& hosts_file() const noexcept { return hosts_file_; }
  [[nodiscard]] std::size_t queries_at_once() const noexcept { return queries_at_once_; }
  ///@}

private:
  static constexpr std::int64_t second = 1'000'000'000;

  static time_span not_negative(time_span length) noexcept {
    check(length.count() >= 0, "resolver: nothing is remembered for less than no time");
    return length;
  }

  std::vector<socket_address> servers_;
  std::string hosts_file_ = "/etc/hosts";
  time_span timeout_ = time_span::of_nanoseconds(2 * second);
  time_span longest_ttl_ = time_span::of_nanoseconds(3600 * second);
  time_span negative_ttl_ = time_span::of_nanoseconds(5 * second);
  time_span unknown_ttl_ = time_span::of_nanoseconds(5 * second);
  std::size_t cache_entries_ = 1024;
  std::size_t queries_at_once_ = 64;
  std::uint32_t tries_ = 3;
};

}  // namespace skua::inline SKUA_ABI::net
