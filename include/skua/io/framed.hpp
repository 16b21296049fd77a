// skua/io/framed.hpp: reads a byte stream frame by frame.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/buffered_reader.hpp"
#include "skua/io/frame.hpp"
#include "skua/io/framing.hpp"

#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Cuts what a reader gives into frames, all by one rule:
///
///   framed input(socket, framing::lines());
///   while (auto line = co_await or_return(co_await input.next())) use(line->text());
///
/// The reader is borrowed, and stays where it is. One next() at a time. Where the rule changes
/// within a stream (a head of lines, then a body of so many bytes), take an io::buffered_reader.
///
/// A stop or a lost race loses nothing: bytes that were read are kept for the next call, and so is
/// a frame that was not returned.
template <async_reader Reader>
class framed {
public:
  /// Borrows the reader, and has nothing of it before next().
  framed(Reader& from, framing rule) : from_(from), rule_(std::move(rule)) {}

  /// The next frame, valid until the call after it; empty at the end of the stream. Errors, which
  /// then stay: errc::limit_exceeded (a frame is longer than the rule allows), errc::end_of_stream
  /// (the stream ended in the middle of a frame), or the reader's own. Throws std::bad_alloc.
  [[nodiscard]] task<result<std::optional<frame>>> next() { return from_.read_frame(rule_); }

private:
  io::buffered_reader<Reader&> from_;
  framing rule_;
};

}  // namespace skua::inline SKUA_ABI
