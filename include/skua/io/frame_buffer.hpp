// skua/io/frame_buffer.hpp: bytes that were read and are not used up yet.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/io/framing.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI {

/// The bytes of one frame, as they lie in the buffer.
class frame {
public:
  explicit frame(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

private:
  std::span<const std::byte> bytes_;
};

/// Grows as large as the largest frame, and a read beyond that. For one reader at a time.
class [[gnu::visibility("default")]] frame_buffer {
public:
  explicit frame_buffer(framing rule) noexcept;

  /// True if take() has something to give: a frame, the end, or an error.
  [[nodiscard]] bool find();
  /// After find() was true. The frame is valid until the next find().
  [[nodiscard]] result<std::optional<frame>> take();

  /// Room to read into; not empty. Throws std::bad_alloc, and then nothing is lost.
  [[nodiscard]] std::span<std::byte> make_room();
  /// So many bytes were read into the room. None: that is the end.
  void add(std::size_t count) noexcept;

private:
  framing rule_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what is not used up
  std::size_t end_ = 0;    // of what was read
  std::size_t seen_ = 0;   // bytes from begin_ on, in which no frame ends
  framing::cut found_;
  bool at_end_ = false;
};

}  // namespace skua::inline SKUA_ABI
