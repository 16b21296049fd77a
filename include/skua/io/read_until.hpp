// skua/io/read_until.hpp: reads up to a delimiter.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/buffered_reader.hpp"
#include "skua/io/frame.hpp"
#include "skua/io/framing.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace skua::inline SKUA_ABI::io {

/// `auto head = co_await io::read_until(from, "\r\n\r\n", 16'384);` gives what comes before the
/// delimiter, which is used up with it; at the end of the stream what is left, and then nothing.
/// Suspends while the reader does. What it gives is valid until the next call on the reader; the
/// delimiter, which is not empty, is borrowed until this has ended.
///
/// Errors: errc::limit_exceeded if more than `limit` bytes come before it, and the reader's own.
/// Nothing is lost, whether it fails or is stopped. Allocates for a copy of the delimiter: in a
/// loop, make a framing::ends_with() once, and call buffered_reader::read_frame().
template <async_reader Reader>
[[nodiscard]] task<result<std::optional<frame>>> read_until(
    buffered_reader<Reader>& from, std::string_view delimiter,
    std::size_t limit = framing::usual_limit) {
  const framing rule = framing::ends_with(delimiter, limit);
  co_return co_await from.read_frame(rule);
}

}  // namespace skua::inline SKUA_ABI::io
