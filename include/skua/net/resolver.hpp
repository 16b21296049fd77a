// skua/net/resolver.hpp: from the name of a host to its addresses.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/dns_error.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/ip_family.hpp"
#include "skua/net/resolver_options.hpp"
#include "skua/net/resolver_stats.hpp"

#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI::net {

class dns_backend;
class resolver_state;

/// `resolver names; auto found = co_await names.lookup("example.org");`
///
/// Remembers answers for as long as they hold, and asks once for what several tasks want to know at
/// the same time. Any number of tasks may use it, on any thread and in several runtimes; it
/// outlives their lookups, or the program ends and says so. Keep one for long: a new one remembers
/// nothing, and reads /etc/resolv.conf again.
///
/// With c-ares (how skua is built where CMake finds it), queries are sockets and timers of the
/// task's own driver: no thread is needed. Without, each query is a getaddrinfo() on a thread of
/// the blocking pool. backend() says which it is.
class [[gnu::visibility("default")]] resolver {
public:
  resolver();
  /// With servers, limits and memory of its own.
  explicit resolver(resolver_options options);
  /// For tests: asks somebody else. Owns the backend.
  resolver(resolver_options options, dns_backend* backend);
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;
  ~resolver();

  /// The addresses of `name`, at least one; those of version 6 come first, and those of each
  /// version in the order in which one should try them. A numeric address is its own answer.
  ///
  /// Suspends only if the answer is neither numeric nor remembered. `localhost` and what ends in
  /// `.localhost` is never asked for. A name that stands in the hosts file has the addresses
  /// that stand there, and no others. `name` is copied. Of a name that ends in a dot the domains of
  /// /etc/resolv.conf are not tried. Names have ASCII characters only: convert international ones.
  ///
  /// Stopped: nothing is lost, and others who wait for the same answer go on waiting for it. The
  /// query ends when nobody waits for it; a getaddrinfo() goes on, and is ignored.
  ///
  /// Errors: those of dns_errc; too_many_files_open; what ip_address::parse() says of scopes. If
  /// both versions fail, the error that says more: not that there is no data, if one timed out.
  [[nodiscard]] task<result<std::vector<ip_address>>> lookup(std::string_view name,
                                                             ip_family which = ip_family::any);

  /// Forgets all answers, and reads /etc/resolv.conf again when it is next needed.
  void forget() noexcept;

  /// So far. From any thread.
  [[nodiscard]] resolver_stats stats() const noexcept;

  /// "c-ares" or "getaddrinfo".
  [[nodiscard]] const char* backend() const noexcept;

private:
  resolver_state* state_;  // ours
};

/// The same with a resolver that is made for this one question: simple, and slower.
[[nodiscard, gnu::visibility("default")]] task<result<std::vector<ip_address>>> lookup(
    std::string_view name, ip_family which = ip_family::any);

}  // namespace skua::inline SKUA_ABI::net
