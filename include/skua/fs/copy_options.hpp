// skua/fs/copy_options.hpp: how a file is copied.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI::fs {

/// `copy_options().overwrite(false)`. What is not said: a file that is there is overwritten, and
/// nothing is synced.
class copy_options {
public:
  constexpr copy_options() noexcept : replaces_(true) {}

  /// Otherwise something that is there is left alone, and the copy fails with
  /// std::errc::file_exists.
  constexpr copy_options& overwrite(bool yes) noexcept {
    replaces_ = yes;
    return *this;
  }
  /// Done when the bytes are on the device, and then the name.
  constexpr copy_options& sync(bool yes = true) noexcept {
    syncs_ = yes;
    return *this;
  }
  /// Reads and writes, so that the copy shares nothing with the original where the file system
  /// could let it. Otherwise the kernel copies, and may share.
  constexpr copy_options& share_nothing(bool yes = true) noexcept {
    plain_ = yes;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] constexpr bool overwrites() const noexcept { return replaces_; }
  [[nodiscard]] constexpr bool syncs() const noexcept { return syncs_; }
  [[nodiscard]] constexpr bool shares_nothing() const noexcept { return plain_; }
  ///@}

private:
  bool replaces_;
  bool syncs_ = false;
  bool plain_ = false;
};

}  // namespace skua::inline SKUA_ABI::fs
