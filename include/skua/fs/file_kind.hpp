// skua/fs/file_kind.hpp: what a name in a directory stands for.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>
#include <string_view>

namespace skua::inline SKUA_ABI::fs {

/// What there is on Linux.
enum class file_kind : unsigned char {
  unknown,           ///< nobody could say
  regular,           ///< a file with bytes of its own
  directory,         ///< a list of names
  symlink,           ///< a link to another path
  block_device,      ///< a disk, or the like
  character_device,  ///< a terminal, or the like
  fifo,              ///< a pipe with a name
  socket,            ///< a Unix socket
};

/// "regular", "directory", and so on, as the enumerators are called.
[[nodiscard]] constexpr std::string_view name_of(file_kind which) noexcept {
  switch (which) {
    case file_kind::unknown:
      return "unknown";
    case file_kind::regular:
      return "regular";
    case file_kind::directory:
      return "directory";
    case file_kind::symlink:
      return "symlink";
    case file_kind::block_device:
      return "block_device";
    case file_kind::character_device:
      return "character_device";
    case file_kind::fifo:
      return "fifo";
    case file_kind::socket:
      return "socket";
  }
  return "?";
}

/// From the bits that stat(2) gives.
[[nodiscard, gnu::visibility("default")]] file_kind kind_of_mode(std::uint32_t mode) noexcept;

}  // namespace skua::inline SKUA_ABI::fs
