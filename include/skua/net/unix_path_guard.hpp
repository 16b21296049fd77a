// skua/net/unix_path_guard.hpp: removes the file of a Unix socket that we have made.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/net/socket_address.hpp"

#include <cstdint>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// Removes it when it is dropped, if the path still leads to the same file. Looking and removing
/// are two calls to the file system, short ones, on the calling thread.
class [[gnu::visibility("default")]] unix_path_guard {
public:
  unix_path_guard() = default;
  /// Of a socket that was bound right now. Nothing is guarded if `at` is no path.
  explicit unix_path_guard(const socket_address& at) noexcept;
  unix_path_guard(unix_path_guard&& from) noexcept
      : at_(from.at_),
        device_(from.device_),
        inode_(from.inode_),
        guards_(std::exchange(from.guards_, false)) {}
  unix_path_guard& operator=(unix_path_guard&& from) noexcept;
  ~unix_path_guard() { remove(); }

  void remove() noexcept;
  void forget() noexcept { guards_ = false; }

private:
  socket_address at_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  bool guards_ = false;
};

}  // namespace skua::inline SKUA_ABI::net
