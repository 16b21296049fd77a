// skua/io/read_to_end.hpp: reads everything there is, up to a limit.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/filled_part.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::io {

/// `co_await io::read_to_end(from, text, 1 << 20)`: appends everything up to the end of the stream
/// to a std::string, a std::vector of bytes or the like, and says how many bytes that was. Suspends
/// as the reads do. Reader and container are borrowed until it has ended; nobody else looks at the
/// container meanwhile.
///
/// Errors: errc::limit_exceeded if there are more than `limit`, of which it has read one byte too
/// many at most; the reader's own. Throws what the container throws when it grows. Nothing is lost,
/// whether it fails, throws or is stopped: what was read is in the container, and nothing else is.
template <async_reader Reader, byte_container Container>
[[nodiscard]] task<result<std::size_t>> read_to_end(Reader& from, Container& into,
                                                    std::size_t limit) {
  filled_part part(into);
  for (;;) {
    const std::size_t allowed = limit - part.added();
    const std::span<std::byte> room = part.make_room(allowed + (allowed + 1 != 0 ? 1 : 0));
    const result<std::size_t> got = co_await from.read(room);
    if (!got.has_value()) co_return fail(got.error());
    if (*got == 0) co_return part.added();
    part.add(*got);
    if (part.added() > limit) co_return fail(errc::limit_exceeded);
  }
}

/// The same into a new vector, which is lost if it fails or is stopped.
template <async_reader Reader>
[[nodiscard]] task<result<std::vector<std::byte>>> read_to_end(Reader& from, std::size_t limit) {
  std::vector<std::byte> all;
  const result<std::size_t> got = co_await read_to_end(from, all, limit);
  if (!got.has_value()) co_return fail(got.error());
  co_return std::move(all);
}

}  // namespace skua::inline SKUA_ABI::io
