// skua/net/accept_patience.hpp: what to do when a listener could not accept.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_span.hpp"

#include <cstdint>
#include <system_error>

namespace skua::inline SKUA_ABI {
class serve_counters;
}  // namespace skua::inline SKUA_ABI

namespace skua::inline SKUA_ABI::net {

/// A listener outlives most failures of accept(), but must not answer them by trying again at once:
/// a process without descriptors would spin, since the connection stays in the queue. One of these
/// for each loop that accepts, for one task at a time; see accept_patiently() and serve(), which
/// have their own.
///
///   what failed                                          what to do
///   this connection: aborted, a protocol error,          again, at once; the 17th time in a row
///   a host or network that is unreachable                pause
///   the process or the system: no descriptors            pause: 10 ms, twice as long each time,
///   (EMFILE, ENFILE), no memory (ENOMEM, ENOBUFS)        up to 100 ms
///   the listener: no socket, closed, not listening       give up
///
/// The first pause is logged as a warning by the runtime, and then one in 10 s, with the number of
/// those that were not. When accepting works again, pauses are short again.
class [[gnu::visibility("default")]] accept_patience {
public:
  /// What to do: accept again at once, pause() first, or let the listener be.
  enum class advice : unsigned char {
    again,   ///< accept at once
    pause,   ///< wait for pause(), and then accept
    give_up  ///< nothing will come any more
  };

  accept_patience() noexcept = default;
  /// Counts its pauses there, too, as they begin. Borrowed.
  explicit accept_patience(serve_counters& total) noexcept : total_(&total) {}

  /// After a failure. Logs.
  [[nodiscard]] advice after(const std::error_code& why) noexcept;
  /// After advice::pause: how long.
  [[nodiscard]] time_span pause() const noexcept { return time_span::of_nanoseconds(pause_); }
  /// A connection was accepted.
  void succeeded() noexcept {
    pause_ = 0;
    in_a_row_ = 0;
  }
  /// So far.
  [[nodiscard]] std::uint64_t pauses() const noexcept { return pauses_; }

private:
  advice advise_pause(const std::error_code& why) noexcept;

  std::int64_t pause_ = 0;  // nanoseconds
  std::uint32_t in_a_row_ = 0;
  std::uint64_t pauses_ = 0;
  std::uint64_t unsaid_ = 0;  // pauses since one was logged
  instant silent_until_;
  serve_counters* total_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI::net
