// skua/fs/write_options.hpp: how a whole file is written.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::fs {

/// `write_options().mode(0600).sync()`.
class write_options {
public:
  constexpr write_options() noexcept : mode_(0666) {}

  /// Permissions of a file that is made, less those that the process's umask takes away: 0666 if
  /// this is not said. Of write_file_atomic(): also where it takes the place of another file, whose
  /// permissions it has otherwise.
  constexpr write_options& mode(std::uint32_t permissions) noexcept {
    mode_ = permissions;
    says_mode_ = true;
    return *this;
  }
  /// Done when the bytes are on the device; of write_file_atomic(): before it gets its name, so
  /// that after a crash the old or the new content is there, and not an empty file.
  constexpr write_options& sync(bool yes = true) noexcept {
    syncs_ = yes;
    return *this;
  }
  /// Of write_file_atomic(): done when the new name is on the device, too, so that after a crash
  /// the new content is there.
  constexpr write_options& sync_directory(bool yes = true) noexcept {
    syncs_directory_ = yes;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] constexpr std::uint32_t permissions() const noexcept { return mode_; }
  [[nodiscard]] constexpr bool says_mode() const noexcept { return says_mode_; }
  [[nodiscard]] constexpr bool syncs() const noexcept { return syncs_; }
  [[nodiscard]] constexpr bool syncs_directory() const noexcept { return syncs_directory_; }
  ///@}

private:
  std::uint32_t mode_;
  bool says_mode_ = false;
  bool syncs_ = false;
  bool syncs_directory_ = false;
};

}  // namespace skua::inline SKUA_ABI::fs
