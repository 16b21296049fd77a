// skua/io/framed.hpp: reads a byte stream frame by frame.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/frame_buffer.hpp"
#include "skua/io/framing.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Cuts what a reader gives into frames:
///
///   framed input(socket, framing::lines());
///   while (auto line = co_await or_return(co_await input.next())) use(line->text());
///
/// A reader is anything with `read(std::span<std::byte>)` that gives, when awaited, a
/// result<std::size_t>, 0 at the end. It is borrowed, and stays where it is. One next() at a time.
///
/// A stop loses nothing: bytes that were read are kept for the next call.
template <typename Reader>
class framed {
public:
  framed(Reader& from, framing rule) : from_(from), buffer_(std::move(rule)) {}

  /// The next frame, valid until the call after it; empty at the end of the stream. Errors, which
  /// then stay: errc::limit_exceeded (a frame is longer than the rule allows), errc::end_of_stream
  /// (the stream ended in the middle of a frame), or the reader's own. Throws std::bad_alloc.
  [[nodiscard]] task<result<std::optional<frame>>> next() {
    while (!buffer_.find()) {
      const std::span<std::byte> room = buffer_.make_room();
      const result<std::size_t> got = co_await from_.read(room);
      if (!got.has_value()) co_return fail(got.error());
      buffer_.add(*got);
    }
    co_return buffer_.take();
  }

private:
  Reader& from_;
  frame_buffer buffer_;
};

}  // namespace skua::inline SKUA_ABI
