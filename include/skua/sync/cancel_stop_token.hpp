// skua/sync/cancel_stop_token.hpp: cancel tokens and std::stop_token, in both directions.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/cancel_source.hpp"
#include "skua/sync/cancel_token.hpp"

#include <stop_token>
#include <utility>

namespace skua::inline SKUA_ABI {

/// While it lives, a stop that is asked for at a std::stop_token cancels a source: at once, on the
/// thread that asks; in the constructor, if it was asked for before.
class cancel_on_stop {
public:
  /// `which` is cancelled when a stop is asked for at `when`.
  cancel_on_stop(const std::stop_token& when, cancel_source which)
      : callback_(when, cancels(std::move(which))) {}

private:
  class cancels {
  public:
    explicit cancels(cancel_source which) noexcept : which_(std::move(which)) {}
    void operator()() const noexcept { which_.cancel(); }

  private:
    cancel_source which_;
  };

  std::stop_callback<cancels> callback_;
};

/// For code that takes a std::stop_token: `cancel_stop_token::of(token)` is told when `token` is
/// cancelled. Its callbacks run on the thread that cancels. It is told for as long as a source or
/// a token of it exists; the one of a token that is never cancelled never is.
class cancel_stop_token {
public:
  /// Allocates at the first call for a source. Throws std::bad_alloc.
  [[nodiscard, gnu::visibility("default")]] static std::stop_token of(const cancel_token& token);
};

}  // namespace skua::inline SKUA_ABI
