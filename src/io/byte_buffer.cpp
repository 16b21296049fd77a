// src/io/byte_buffer.cpp: keep bytes together, and make room for more.
#include "skua/io/byte_buffer.hpp"

#include "skua/base/check.hpp"

#include <algorithm>
#include <utility>

namespace skua::inline SKUA_ABI::io {
namespace {

constexpr std::size_t first_size = 8192;

}  // namespace

void byte_buffer::consume(std::size_t count) noexcept {
  check(count <= size(), "no more bytes are used up than there are");
  begin_ += count;
}

// What is left is moved to the front only if there is too little room behind it: each byte is moved
// once per buffer that is filled, at most, since the room grows with what is kept.
std::span<std::byte> byte_buffer::make_room(std::size_t least) {
  if (empty()) begin_ = end_ = 0;
  if (memory_.size() - end_ >= least) return std::span(memory_).subspan(end_);
  if (memory_.size() - size() < std::max(least, size()))
    memory_.resize(std::max({first_size, 2 * memory_.size(), size() + least}));
  std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(begin_), size(), memory_.begin());
  end_ -= std::exchange(begin_, 0);
  return std::span(memory_).subspan(end_);
}

void byte_buffer::add(std::size_t count) noexcept {
  check(count <= memory_.size() - end_, "no more bytes come in than there is room for");
  end_ += count;
}

void byte_buffer::append(std::span<const std::byte> more) {
  if (more.empty()) return;
  std::ranges::copy(more, make_room(more.size()).begin());
  add(more.size());
}

std::size_t byte_buffer::move_to(std::span<std::byte> into) noexcept {
  const std::size_t count = std::min(into.size(), size());
  std::ranges::copy(bytes().first(count), into.begin());
  consume(count);
  return count;
}

}  // namespace skua::inline SKUA_ABI::io
