// skua/io/framing.hpp: where one message of a byte stream ends and the next begins.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI {

/// A rule to cut a stream of bytes into frames. Every rule has a limit: a peer cannot make us keep
/// more than that. A value; what it is made of is copied.
class [[gnu::visibility("default")]] framing {
public:
  static constexpr std::size_t usual_limit = std::size_t{1} << 20;  ///< bytes of a frame: 1 MiB

  /// Lines, without their end, "\n" or "\r\n". What follows the last end is a line, too.
  [[nodiscard]] static framing lines(std::size_t limit = usual_limit);
  /// Frames that end with `delimiter`, which is left out and not empty. What follows the last one
  /// is a frame, too.
  [[nodiscard]] static framing ends_with(std::string_view delimiter,
                                         std::size_t limit = usual_limit);
  /// Frames that begin with their length, in 1, 2, 4 or 8 bytes, the most significant first; it
  /// counts what follows it, and is left out.
  [[nodiscard]] static framing length_first(std::size_t bytes, std::size_t limit = usual_limit);

  /// What a look at bytes found.
  struct cut {
    /// What there is.
    enum class kind : unsigned char {
      frame,     ///< `begin` to `end`; the next begins at `next`.
      more,      ///< No whole frame yet. The next look may begin at `next`, with more bytes.
      too_long,  ///< The frame exceeds the limit.
      early_end  ///< The stream has ended in the middle of a frame.
    };
    kind what = kind::more;  ///< what was found; the rest depends on it
    std::size_t begin = 0;   ///< where the frame begins
    std::size_t end = 0;     ///< where it ends: behind its last byte
    std::size_t next = 0;    ///< where to go on
  };

  /// Looks for a whole frame at the start of `bytes`. `seen`: so many were looked at before, in
  /// vain. `at_end`: no more will come, and there is at least one.
  [[nodiscard]] cut find(std::span<const std::byte> bytes, std::size_t seen, bool at_end) const;

private:
  enum class rule : unsigned char { lines, delimiter, length };
  framing(rule which, std::size_t limit) noexcept : rule_(which), limit_(limit) {}
  [[nodiscard]] cut find_delimiter(std::string_view text, std::size_t seen, bool at_end) const;
  [[nodiscard]] cut find_length(std::span<const std::byte> bytes, bool at_end) const;

  rule rule_;
  std::size_t limit_;
  std::size_t prefix_ = 0;       // bytes of a length
  std::vector<char> delimiter_;  // of ends_with(); lines need no memory for theirs
};

}  // namespace skua::inline SKUA_ABI
