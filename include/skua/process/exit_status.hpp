// skua/process/exit_status.hpp: how a process has ended.
#pragma once

#include "skua/base/abi.hpp"

#include <optional>
#include <string>

namespace skua::inline SKUA_ABI::process {

/// By itself, with a code, or by a signal. A plain value.
class [[gnu::visibility("default")]] exit_status {
public:
  /// It gave `code`, 0 to 255.
  [[nodiscard]] static exit_status exited(int code) noexcept { return {code, 0, false}; }
  /// A signal ended it.
  [[nodiscard]] static exit_status killed(int signal, bool core_dumped = false) noexcept {
    return {0, signal, core_dumped};
  }

  /// It gave the code 0.
  [[nodiscard]] bool success() const noexcept { return signal_ == 0 && code_ == 0; }
  /// Nothing if a signal ended it.
  [[nodiscard]] std::optional<int> code() const noexcept {
    return signal_ == 0 ? std::optional(code_) : std::nullopt;
  }
  /// Which signal ended it; nothing if none did.
  [[nodiscard]] std::optional<int> signal() const noexcept {
    return signal_ != 0 ? std::optional(signal_) : std::nullopt;
  }
  /// A signal ended it, and it left an image of its memory behind.
  [[nodiscard]] bool core_dumped() const noexcept { return core_dumped_; }

  /// "exit code 3", "signal 6 (SIGABRT), core dumped".
  [[nodiscard]] std::string to_string() const;

  /// Of the same kind, with the same code or signal.
  friend bool operator==(const exit_status&, const exit_status&) noexcept = default;

private:
  exit_status(int code, int signal, bool core_dumped) noexcept
      : code_(code), signal_(signal), core_dumped_(core_dumped) {}

  int code_;
  int signal_;  // 0: none
  bool core_dumped_;
};

}  // namespace skua::inline SKUA_ABI::process
