// skua/net/serve_options.hpp: the limits of a server.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/sync/semaphore.hpp"
#include "skua/time/time_span.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

class serve_counters;

/// `serve_options().max_connections(10'000).drain_time(5s)`; see serve().
class serve_options {
public:
  static constexpr std::size_t no_limit = semaphore::most;  ///< as many connections as come

  serve_options() noexcept = default;

  /// So many at a time. While there are as many, nobody is accepted: others wait in the listener's
  /// queue, and in the end at their clients. At least 1; no limit by default but that of
  /// descriptors.
  serve_options& max_connections(std::size_t count) noexcept {
    check(count > 0, "a server has at least one connection at a time");
    max_connections_ = count < no_limit ? count : no_limit;
    return *this;
  }
  /// How long handlers may go on after the end was asked for; then they are stopped. 10 s by
  /// default.
  serve_options& drain_time(time_span length) noexcept {
    drain_time_ = length;
    return *this;
  }
  /// A handler that takes longer than this is stopped. No limit by default. For a limit on silence
  /// instead, see net::idle_limited.
  serve_options& connection_time(time_span length) noexcept {
    connection_time_ = length;
    return *this;
  }
  /// Counts there what happens, for others to look at meanwhile. Borrowed until serve() has ended.
  serve_options& count_in(serve_counters& where) noexcept {
    counters_ = &where;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] std::size_t max_connections() const noexcept { return max_connections_; }
  [[nodiscard]] time_span drain_time() const noexcept { return drain_time_; }
  [[nodiscard]] time_span connection_time() const noexcept { return connection_time_; }
  [[nodiscard]] serve_counters* counters() const noexcept { return counters_; }
  ///@}

private:
  std::size_t max_connections_ = no_limit;
  time_span drain_time_ = time_span::of_nanoseconds(10'000'000'000);
  time_span connection_time_ = time_span::longest();
  serve_counters* counters_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
