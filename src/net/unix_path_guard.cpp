// src/net/unix_path_guard.cpp: which file it was, and whether it still is.
#include "skua/net/unix_path_guard.hpp"

#include "io/socket_calls.hpp"

namespace skua::inline SKUA_ABI::net {

unix_path_guard::unix_path_guard(const socket_address& at) noexcept : at_(at) {
  if (at.path().empty()) return;
  const auto file = io::identity_of(at.path());
  if (!file) return;
  device_ = file->device;
  inode_ = file->inode;
  guards_ = true;
}

unix_path_guard& unix_path_guard::operator=(unix_path_guard&& from) noexcept {
  if (this == &from) return *this;
  remove();
  at_ = from.at_;
  device_ = from.device_;
  inode_ = from.inode_;
  guards_ = std::exchange(from.guards_, false);
  return *this;
}

void unix_path_guard::remove() noexcept {
  if (!std::exchange(guards_, false)) return;
  const auto now = io::identity_of(at_.path());
  if (!now || now->device != device_ || now->inode != inode_ || !now->is_socket) return;
  (void)io::unlink_now(at_.path());
}

}  // namespace skua::inline SKUA_ABI::net
