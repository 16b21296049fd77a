// src/io/vectored.cpp: from spans to what the kernel takes.
#include "skua/io/vectored.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI::io {

iovec_list::iovec_list(std::span<const std::span<const std::byte>> pieces,
                       std::size_t skip) noexcept {
  for (const std::span<const std::byte> one : pieces) {
    const std::size_t left_out = std::min(skip, one.size());
    skip -= left_out;
    add(one.data() + left_out, one.size() - left_out);
  }
}

iovec_list::iovec_list(std::span<const std::span<std::byte>> rooms) noexcept {
  for (const std::span<std::byte> one : rooms) add(one.data(), one.size());
}

// What is written is only read.
void iovec_list::add(const std::byte* from, std::size_t length) noexcept {
  if (length == 0 || count_ == list_.size()) return;
  list_[count_++] = {const_cast<std::byte*>(from), length};
}

}  // namespace skua::inline SKUA_ABI::io
