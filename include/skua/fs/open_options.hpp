// skua/fs/open_options.hpp: how a file is opened.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::fs {

/// `open_options().read().write().create()`. Without any of read, write and append, opening fails
/// with std::errc::invalid_argument; so do truncate, create and create_new of a file that is not
/// written, and truncate together with append.
class [[gnu::visibility("default")]] open_options {
public:
  constexpr open_options() noexcept : mode_(0666) {}

  /// Opened for reading.
  constexpr open_options& read(bool yes = true) noexcept { return set(readable, yes); }
  /// Opened for writing, from the start on; what is there stays unless it is written over.
  constexpr open_options& write(bool yes = true) noexcept { return set(writable, yes); }
  /// Each write goes to the end, wherever that is by then.
  constexpr open_options& append(bool yes = true) noexcept { return set(appends, yes); }
  /// What was there is gone.
  constexpr open_options& truncate(bool yes = true) noexcept { return set(truncates, yes); }
  /// Makes it if it is not there.
  constexpr open_options& create(bool yes = true) noexcept { return set(creates, yes); }
  /// Makes it, and fails with std::errc::file_exists if something is there, also a link to nowhere.
  constexpr open_options& create_new(bool yes = true) noexcept { return set(only_new, yes); }
  /// Permissions of a file that is made, less those that the process's umask takes away.
  constexpr open_options& mode(std::uint32_t permissions) noexcept {
    mode_ = permissions;
    return *this;
  }
  /// Fails with std::errc::too_many_symbolic_link_levels if the last part of the path is a link.
  constexpr open_options& no_follow(bool yes = true) noexcept { return set(stays, yes); }
  /// Past the kernel's cache: buffers, offsets and lengths are multiples of the device's block.
  constexpr open_options& direct(bool yes = true) noexcept { return set(unbuffered, yes); }
  /// A write has ended when its bytes are on the device.
  constexpr open_options& synchronous(bool yes = true) noexcept { return set(syncs, yes); }
  /// Does not wait for the other end of a fifo, nor for a device.
  constexpr open_options& non_blocking(bool yes = true) noexcept { return set(no_wait, yes); }
  /// More O_* flags, for what has no name here.
  constexpr open_options& flags(int more) noexcept {
    more_ = more;
    return *this;
  }

  /// What mode() was told; 0666 otherwise.
  [[nodiscard]] constexpr std::uint32_t permissions() const noexcept { return mode_; }
  /// O_*, or std::errc::invalid_argument.
  [[nodiscard]] result<int> to_flags() const noexcept;

private:
  enum bit : std::uint16_t {
    readable = 1,
    writable = 2,
    appends = 4,
    truncates = 8,
    creates = 16,
    only_new = 32,
    stays = 64,
    unbuffered = 128,
    syncs = 256,
    no_wait = 512,
  };
  constexpr open_options& set(bit which, bool yes) noexcept {
    bits_ = static_cast<std::uint16_t>(yes ? bits_ | which : bits_ & ~which);
    return *this;
  }
  [[nodiscard]] constexpr bool has(int which) const noexcept { return (bits_ & which) != 0; }

  std::uint16_t bits_ = 0;
  std::uint32_t mode_;
  int more_ = 0;
};

}  // namespace skua::inline SKUA_ABI::fs
