// skua/io/write_all.hpp: writes until everything is written.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/vectored.hpp"

#include <cstddef>
#include <span>
#include <system_error>

namespace skua::inline SKUA_ABI::io {

/// `co_await io::write_all(to, bytes)`: as many writes as it takes. Suspends as those do. The
/// writer and the bytes are borrowed until it has ended.
///
/// Errors: the writer's own, and std::errc::io_error if it takes nothing and does not say why. If
/// it fails or is stopped some of the bytes may have been written, and nobody knows how many: the
/// stream is then good for nothing but to be closed. A buffered_writer does know, and can go on.
template <async_writer Writer>
[[nodiscard]] task<result<void>> write_all(Writer& to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const result<std::size_t> took = co_await to.write(bytes);
    if (!took.has_value()) co_return fail(took.error());
    if (*took == 0) co_return fail(std::errc::io_error);
    bytes = bytes.subspan(*took);
  }
  co_return result<void>();
}

/// The same for several pieces, one after the other, with as few writes as the writer can do with:
/// a head and a body go out together.
template <async_writer Writer>
[[nodiscard]] task<result<void>> write_all(Writer& to,
                                           std::span<const std::span<const std::byte>> pieces) {
  std::size_t written = 0;  // of the pieces that are left
  for (;;) {
    while (!pieces.empty() && written >= pieces.front().size()) {
      written -= pieces.front().size();
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) co_return result<void>();
    const result<std::size_t> took = co_await io::writev(to, pieces, written);
    if (!took.has_value()) co_return fail(took.error());
    if (*took == 0) co_return fail(std::errc::io_error);
    written += *took;
  }
}

}  // namespace skua::inline SKUA_ABI::io
