// skua/sync/send_result.hpp: whether a message was sent; if not, why, and the message itself.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `if (auto result = co_await tx.send(std::move(job)); !result) run_here(result.rejected());`
/// A message that was not sent is in here; dropping the result drops it.
template <typename T>
class [[nodiscard]] send_result {
public:
  /// Why a message was not sent.
  enum class reason : unsigned char {
    none,    ///< It was sent.
    full,    ///< There is no room now. Only the try_ forms say so; the others wait.
    closed,  ///< Nobody will receive it, now or later.
  };

  /// Sent.
  send_result() = default;
  /// Not sent.
  send_result(reason why, T&& message) noexcept : why_(why), message_(std::move(message)) {}

  /// It was sent.
  [[nodiscard]] bool has_value() const noexcept { return why_ == reason::none; }
  /// It was sent.
  explicit operator bool() const noexcept { return has_value(); }
  /// There was no room.
  [[nodiscard]] bool is_full() const noexcept { return why_ == reason::full; }
  /// Nobody will receive any more.
  [[nodiscard]] bool is_closed() const noexcept { return why_ == reason::closed; }

  /// The message. Only if it was not sent.
  [[nodiscard]] T& rejected() & noexcept {
    check(!has_value(), "a message comes back only if it was not sent");
    return *message_;
  }
  /// The same, moved out.
  [[nodiscard]] T rejected() && noexcept { return std::move(rejected()); }

private:
  reason why_ = reason::none;
  std::optional<T> message_;
};

}  // namespace skua::inline SKUA_ABI
