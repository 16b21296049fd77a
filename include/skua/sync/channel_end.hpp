// skua/sync/channel_end.hpp: a hold on a channel that counts as a sender or as a receiver of it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// What the handles of all channels are made of. `Drop`, a function of `State`, is called when it
/// goes; `Add` when it is copied, which it cannot be without one. Moved from it is empty, and may
/// be assigned to or destroyed. Used by one thread at a time, as far as it changes.
template <typename State, auto Drop, auto Add = nullptr>
class channel_end {
public:
  /// Counts from now on as the one that `of` was made with, or that was added to it.
  explicit channel_end(State& of) noexcept : of_(&of) {}
  channel_end(const channel_end& from) noexcept
    requires(Add != nullptr)
      : of_(from.of_) {
    if (of_ != nullptr) (of_->*Add)();
  }
  channel_end(channel_end&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
  channel_end& operator=(const channel_end& from) noexcept
    requires(Add != nullptr)
  {
    if (this != &from) *this = channel_end(from);
    return *this;
  }
  channel_end& operator=(channel_end&& from) noexcept {
    if (this != &from) {
      const channel_end old(std::move(*this));
      of_ = std::exchange(from.of_, nullptr);
    }
    return *this;
  }
  ~channel_end() {
    if (of_ != nullptr) (of_->*Drop)();
  }

  [[nodiscard]] bool empty() const noexcept { return of_ == nullptr; }
  /// Not if it is empty.
  [[nodiscard]] State& get() const noexcept {
    check(of_ != nullptr, "a sender or a receiver is used while it has a channel");
    return *of_;
  }
  /// It counts on, but this is empty. Not if it is empty already.
  [[nodiscard]] State& release() noexcept {
    State& held = get();
    of_ = nullptr;
    return held;
  }
  /// Both have the same channel, or none.
  bool operator==(const channel_end& other) const noexcept { return of_ == other.of_; }

private:
  State* of_;
};

}  // namespace skua::inline SKUA_ABI
