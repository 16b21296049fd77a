// src/driver/epoll/fd_table.cpp: two steps from a number to its entry.
#include "driver/epoll/fd_table.hpp"

#include <new>

namespace skua::inline SKUA_ABI {
namespace {

template <typename T>
T* seen(const std::atomic<T*>& pointer) noexcept {
  // order: [fd_table.grow] acquire: what is there was made by another thread.
  return pointer.load(std::memory_order_acquire);
}

template <typename T>
T* made(std::atomic<T*>& pointer) noexcept {
  T* const there = seen(pointer);
  if (there != nullptr) return there;
  T* const fresh = new (std::nothrow) T;
  // order: [fd_table.grow] release: all of it, to those who find it without a lock.
  pointer.store(fresh, std::memory_order_release);
  return fresh;
}

}  // namespace

fd_table::~fd_table() {
  for (auto& one : branches_) {
    branch* const there = seen(one);
    if (there == nullptr) continue;
    for (auto& each : there->chunks) delete seen(each);
    delete there;
  }
}

fd_entry* fd_table::find(int fd) const noexcept {
  if (fd < 0) return nullptr;
  const auto number = static_cast<std::size_t>(fd);
  const branch* const on = seen(branches_[number >> (chunk_bits + branch_bits)]);
  if (on == nullptr) return nullptr;
  chunk* const in = seen(on->chunks[number >> chunk_bits & ((1U << branch_bits) - 1)]);
  return in == nullptr ? nullptr : &(*in)[number & ((1U << chunk_bits) - 1)];
}

fd_entry* fd_table::get(int fd) noexcept {
  if (fd_entry* const there = find(fd); there != nullptr || fd < 0) return there;
  const auto number = static_cast<std::size_t>(fd);
  const std::lock_guard hold(growth_);
  branch* const on = made(branches_[number >> (chunk_bits + branch_bits)]);
  if (on == nullptr) return nullptr;
  if (made(on->chunks[number >> chunk_bits & ((1U << branch_bits) - 1)]) == nullptr) return nullptr;
  return find(fd);
}

}  // namespace skua::inline SKUA_ABI
