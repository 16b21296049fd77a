// src/io/framing.cpp: look for the end of a frame.
#include "skua/io/framing.hpp"

#include "skua/base/check.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI {
namespace {

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

framing framing::lines(std::size_t limit) {
  return {rule::lines, limit};
}

framing framing::ends_with(std::string_view delimiter, std::size_t limit) {
  check(!delimiter.empty(), "a delimiter of frames has at least one byte");
  framing made(rule::delimiter, limit);
  made.delimiter_.assign(delimiter.begin(), delimiter.end());
  return made;
}

framing framing::length_first(std::size_t bytes, std::size_t limit) {
  check(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8,
        "the length of a frame has 1, 2, 4 or 8 bytes");
  framing made(rule::length, limit);
  made.prefix_ = bytes;
  return made;
}

framing::cut framing::find(std::span<const std::byte> bytes, std::size_t seen, bool at_end) const {
  if (rule_ == rule::length) return find_length(bytes, at_end);
  return find_delimiter(as_text(bytes), seen, at_end);
}

// A delimiter of several bytes may begin in what was seen before.
framing::cut framing::find_delimiter(std::string_view text, std::size_t seen, bool at_end) const {
  const std::string_view own(delimiter_.data(), delimiter_.size());
  const std::string_view delimiter = rule_ == rule::lines ? "\n" : own;
  const std::size_t overlap = std::min(seen, delimiter.size() - 1);
  const std::size_t found = text.find(delimiter, seen - overlap);
  const bool whole = found != std::string_view::npos;
  std::size_t end = whole ? found : text.size();
  const std::size_t next = whole ? found + delimiter.size() : text.size();
  if (rule_ == rule::lines && end > 0 && text[end - 1] == '\r' && whole) --end;
  if (!whole && !at_end) {
    // What may still be part of the delimiter does not count.
    const bool too_long = end > limit_ && end - limit_ > delimiter.size();
    return {too_long ? cut::kind::too_long : cut::kind::more, 0, 0, next};
  }
  if (end > limit_) return {cut::kind::too_long, 0, 0, next};
  return {cut::kind::frame, 0, end, next};
}

framing::cut framing::find_length(std::span<const std::byte> bytes, bool at_end) const {
  const auto missing = at_end ? cut::kind::early_end : cut::kind::more;
  if (bytes.size() < prefix_) return {missing, 0, 0, 0};
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < prefix_; ++i)
    length = (length << 8) | std::to_integer<std::uint64_t>(bytes[i]);
  if (length > limit_) return {cut::kind::too_long, 0, 0, 0};
  // Compared so that nothing wraps: with no limit to speak of, a peer may claim any length.
  if (bytes.size() - prefix_ < length) return {missing, 0, 0, 0};
  const std::size_t whole = prefix_ + static_cast<std::size_t>(length);
  return {cut::kind::frame, prefix_, whole, whole};
}

}  // namespace skua::inline SKUA_ABI
