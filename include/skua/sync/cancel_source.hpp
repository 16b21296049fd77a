// skua/sync/cancel_source.hpp: calls things off, and all that belongs to them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/sync/cancel_state.hpp"
#include "skua/sync/cancel_token.hpp"

namespace skua::inline SKUA_ABI {

/// For work that is called off by its own rules, and not by stopping a task:
///
///   cancel_source uploads;
///   spawn(upload(file, uploads.token()));         // co_await token.guard(...)
///   cancel_source one = uploads.child();          // may be cancelled alone
///   uploads.cancel();                             // all of them
///
/// Copies are the same source. Any may be dropped at any time: that cancels nothing. From any
/// thread.
class cancel_source {
public:
  /// Throws std::bad_alloc, as child() does.
  cancel_source() : state_(cancel_state::make(nullptr)) {}
  /// Cancelled when `parent` is, too; at once if that is. One of a token that is never cancelled
  /// stands alone.
  explicit cancel_source(const cancel_token& parent)
      : state_(cancel_state::make(parent.state_.get())) {}

  /// Those who wait go on, here and in all children. True for the first call. Costs a visit to each
  /// source beneath that was not cancelled before. Callbacks of stop tokens run before it returns.
  bool cancel() const noexcept { return get().cancel(); }

  /// It was, here or above.
  [[nodiscard]] bool is_cancelled() const noexcept { return get().is_cancelled(); }
  /// For those who are to be cancelled. Any number, copied freely.
  [[nodiscard]] cancel_token token() const noexcept { return cancel_token(state_); }

  /// One that is cancelled together with this one, or before. When it and its tokens are gone
  /// nothing of it is left here.
  [[nodiscard]] cancel_source child() const { return cancel_source(token()); }

private:
  [[nodiscard]] cancel_state& get() const noexcept {
    check(state_.get() != nullptr, "a cancel_source is not used after it was moved from");
    return *state_.get();
  }

  cancel_reference state_;
};

}  // namespace skua::inline SKUA_ABI
