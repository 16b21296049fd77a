// skua/time/backoff.hpp: pauses that get longer, and are not the same for everybody.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/random.hpp"
#include "skua/time/retry_options.hpp"
#include "skua/time/time_span.hpp"

namespace skua::inline SKUA_ABI {

/// What retry() sleeps between attempts; for loops of your own, such as one that connects again
/// whenever a connection is lost: `co_await sleep(pauses.next());`. One thread at a time.
class [[gnu::visibility("default")]] backoff {
public:
  /// Uses the pauses of `how`, not its limits.
  explicit backoff(const retry_options& how) noexcept;

  /// The next pause.
  [[nodiscard]] time_span next() noexcept;

  /// It worked: the next pause is the first again.
  void reset() noexcept { pause_ = first_; }

private:
  double first_;  // nanoseconds
  double longest_;
  double factor_;
  double jitter_;
  double pause_;
  random_generator random_;
};

}  // namespace skua::inline SKUA_ABI
