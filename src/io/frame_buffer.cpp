// src/io/frame_buffer.cpp: keep bytes together, and cut them.
#include "skua/io/frame_buffer.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"

#include <algorithm>
#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::size_t least_room = 1024;
constexpr std::size_t first_size = 8192;

}  // namespace

frame_buffer::frame_buffer(framing rule) noexcept : rule_(std::move(rule)) {}

// An end without bytes before it is just the end.
bool frame_buffer::find() {
  const auto whole = std::span(bytes_).subspan(begin_, end_ - begin_);
  if (whole.empty()) {
    found_ = {};
    return at_end_;
  }
  found_ = rule_.find(whole, seen_, at_end_);
  if (found_.what != framing::cut::kind::more) return true;
  seen_ = found_.next;
  return false;
}

result<std::optional<frame>> frame_buffer::take() {
  using kind = framing::cut::kind;
  switch (found_.what) {
    case kind::more:
      return std::optional<frame>();
    case kind::too_long:
      return fail(errc::limit_exceeded);
    case kind::early_end:
      return fail(errc::end_of_stream);
    case kind::frame:
      break;
  }
  const std::span<const std::byte> all(bytes_);
  const frame whole(all.subspan(begin_ + found_.begin, found_.end - found_.begin));
  begin_ += found_.next;
  seen_ = 0;
  return std::optional<frame>(whole);
}

// What is left is moved to the front when little room is left behind it: each byte is moved once
// per buffer that is filled, at most.
std::span<std::byte> frame_buffer::make_room() {
  if (bytes_.size() - end_ < least_room) {
    if (begin_ > 0) {
      std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
                bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
      end_ -= std::exchange(begin_, 0);
    }
    if (bytes_.size() - end_ < least_room) bytes_.resize(std::max(first_size, 2 * bytes_.size()));
  }
  return std::span(bytes_).subspan(end_);
}

void frame_buffer::add(std::size_t count) noexcept {
  check(count <= bytes_.size() - end_, "no more bytes are read than there is room for");
  end_ += count;
  if (count == 0) at_end_ = true;
}

}  // namespace skua::inline SKUA_ABI
