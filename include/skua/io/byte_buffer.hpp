// skua/io/byte_buffer.hpp: bytes that have come in and are not used up yet.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::io {

/// What buffered readers, buffered writers and tees keep their bytes in: added at the back, used up
/// at the front. Grows when it is asked for more room than it has, and never shrinks; nothing is
/// allocated before. Not thread-safe.
class [[gnu::visibility("default")]] byte_buffer {
public:
  byte_buffer() = default;
  byte_buffer(byte_buffer&& from) noexcept
      : memory_(std::move(from.memory_)),
        begin_(std::exchange(from.begin_, 0)),
        end_(std::exchange(from.end_, 0)) {}
  byte_buffer& operator=(byte_buffer from) noexcept {
    memory_.swap(from.memory_);
    begin_ = from.begin_;
    end_ = from.end_;
    return *this;
  }

  /// What is inside. Valid until room is made or it is moved.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::span(memory_).subspan(begin_, end_ - begin_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

  /// So many bytes at the front are used up. They stay readable where they are until room is made.
  void consume(std::size_t count) noexcept;

  /// Room behind the last byte, for `least` bytes or more. Throws std::bad_alloc, and then nothing
  /// has changed.
  [[nodiscard]] std::span<std::byte> make_room(std::size_t least);
  /// So many bytes were put into the room.
  void add(std::size_t count) noexcept;

  /// A copy at the back. Throws as make_room() does.
  void append(std::span<const std::byte> more);
  /// Takes from the front as many as there are and as there is room for; says how many.
  std::size_t move_to(std::span<std::byte> into) noexcept;

private:
  std::vector<std::byte> memory_;
  std::size_t begin_ = 0;  // of what is not used up
  std::size_t end_ = 0;    // of what came in
};

}  // namespace skua::inline SKUA_ABI::io
