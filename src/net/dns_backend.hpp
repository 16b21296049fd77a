// src/net/dns_backend.hpp: how a resolver asks: by c-ares, by getaddrinfo(), or as a test likes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/ip_family.hpp"
#include "skua/net/resolver_options.hpp"
#include "skua/time/time_span.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::net {

struct dns_answer {
  dns_answer(std::vector<ip_address> which, time_span holds) noexcept
      : addresses(std::move(which)), ttl(holds) {}

  std::vector<ip_address> addresses;  // one at least
  time_span ttl;
};

/// One question. Used by one task at a time, but not always by the same one.
class dns_query {
public:
  dns_query() = default;
  dns_query(const dns_query&) = delete;
  dns_query& operator=(const dns_query&) = delete;
  /// Gives up, at once.
  virtual ~dns_query() = default;

  /// Until there is an answer. A task that is stopped in here leaves the question open: whoever
  /// runs it next goes on where it is.
  [[nodiscard]] virtual task<result<dns_answer>> run() = 0;
};

/// Any thread may call its functions. Outlives its queries.
class dns_backend {
public:
  dns_backend() = default;
  dns_backend(const dns_backend&) = delete;
  dns_backend& operator=(const dns_backend&) = delete;
  virtual ~dns_backend() = default;

  /// `which` is not any. Nothing is sent before it is run.
  [[nodiscard]] virtual std::unique_ptr<dns_query> ask(const std::string& name,
                                                       ip_family which) = 0;
  /// The settings of the system may have changed.
  virtual void reload() noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
};

/// The one that skua was built for: CMake takes cares_backend.cpp or no_cares_backend.cpp.
[[nodiscard]] std::unique_ptr<dns_backend> make_dns_backend(const resolver_options& options);
/// Always there.
[[nodiscard]] std::unique_ptr<dns_backend> make_getaddrinfo_backend(
    const resolver_options& options);

}  // namespace skua::inline SKUA_ABI::net
