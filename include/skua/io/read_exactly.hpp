// skua/io/read_exactly.hpp: reads until a room is full.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/buffered_reader.hpp"

#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI::io {

/// `co_await io::read_exactly(from, room)`: as many reads as it takes to fill the room. Suspends as
/// those do. The reader and the room are borrowed until it has ended.
///
/// Errors: errc::end_of_stream if the stream ends before the room is full, and the reader's own. If
/// it fails or is stopped, what was read until then is lost: it lies in the room, but nobody knows
/// how much it is.
template <async_reader Reader>
[[nodiscard]] task<result<void>> read_exactly(Reader& from, std::span<std::byte> into) {
  while (!into.empty()) {
    const result<std::size_t> got = co_await from.read(into);
    if (!got.has_value()) co_return fail(got.error());
    if (*got == 0) co_return fail(errc::end_of_stream);
    into = into.subspan(*got);
  }
  co_return result<void>();
}

/// The same, and nothing is lost, whichever way it ends: until all have come the bytes stay in the
/// buffer, which grows to hold them.
template <async_reader Reader>
[[nodiscard]] task<result<void>> read_exactly(buffered_reader<Reader>& from,
                                              std::span<std::byte> into) {
  const auto all = co_await from.fill_buffer(into.size());
  if (!all.has_value()) co_return fail(all.error());
  if (all->size() < into.size()) co_return fail(errc::end_of_stream);
  from.take(into);
  co_return result<void>();
}

}  // namespace skua::inline SKUA_ABI::io
