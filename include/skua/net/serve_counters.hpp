// skua/net/serve_counters.hpp: what a server has done so far.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/net/accept_patience.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// What became of the connections of a server.
struct serve_report {
  std::uint64_t accepted = 0;   ///< each has a handler, or had one
  std::uint64_t succeeded = 0;  ///< whose handler has ended without an error
  std::uint64_t failed = 0;     ///< with one
  std::uint64_t timed_out = 0;  ///< with std::errc::timed_out, or stopped for connection_time()
  std::uint64_t threw = 0;      ///< by an exception
  std::uint64_t stopped = 0;    ///< by a stop, of the drain or the server; or no memory was left
  std::uint64_t pauses = 0;     ///< of accepting, for want of descriptors or memory

  /// Whose handlers have not ended.
  [[nodiscard]] std::uint64_t open() const noexcept {
    return accepted - succeeded - failed - timed_out - threw - stopped;
  }
};

/// The same while it goes on: snapshot() may be called by any thread. Several servers may share
/// one.
class serve_counters {
public:
  serve_counters() noexcept = default;
  serve_counters(const serve_counters&) = delete;
  serve_counters& operator=(const serve_counters&) = delete;

  /// As they are now; those that belong together may differ by what is just happening.
  [[gnu::visibility("default"), nodiscard]] serve_report snapshot() const noexcept;

private:
  friend class serve_state;
  friend class net::accept_patience;

  std::atomic<std::uint64_t> accepted_ = 0;
  std::atomic<std::uint64_t> succeeded_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> timed_out_ = 0;
  std::atomic<std::uint64_t> threw_ = 0;
  std::atomic<std::uint64_t> stopped_ = 0;
  std::atomic<std::uint64_t> pauses_ = 0;
};

}  // namespace skua::inline SKUA_ABI
