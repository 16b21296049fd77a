// skua/io/tee.hpp: a stream of which somebody else gets a copy.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/byte_buffer.hpp"

#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// See tee(). A reader.
template <async_reader Reader, async_writer Writer>
class tee_reader {
public:
  /// Use io::tee().
  tee_reader(Reader&& from, Writer&& to)
      : from_(std::forward<Reader>(from)), to_(std::forward<Writer>(to)) {}

  /// Gives bytes that the writer has taken. Suspends until the one has given some and the other
  /// has taken some of them. Fails as either does (std::errc::io_error for a writer that takes
  /// nothing); the next read then goes on where it was. A stop or a lost race loses nothing.
  [[nodiscard]] task<result<std::size_t>> read(std::span<std::byte> into) {
    if (into.empty()) co_return std::size_t{0};
    if (copied_ == 0) {
      const result<void> more = co_await copy_more();
      if (!more.has_value()) co_return fail(more.error());
    }
    if (copied_ < into.size()) into = into.first(copied_);
    const std::size_t given = bytes_.move_to(into);
    copied_ -= given;
    co_return given;
  }

private:
  static constexpr std::size_t at_a_time = 8192;

  // One write: as soon as some bytes are in both places they can be given.
  task<result<void>> copy_more() {
    if (bytes_.empty()) {
      const std::span<std::byte> room = bytes_.make_room(at_a_time);
      const result<std::size_t> got = co_await from_.read(room);
      if (!got.has_value()) co_return fail(got.error());
      if (*got == 0) co_return result<void>();
      bytes_.add(*got);
    }
    const result<std::size_t> took = co_await to_.write(bytes_.bytes());
    if (!took.has_value()) co_return fail(took.error());
    if (*took == 0) co_return fail(std::errc::io_error);
    copied_ = *took;
    if (co_await stop_requested()) co_await yield();
    co_return result<void>();
  }

  Reader from_;
  Writer to_;
  byte_buffer bytes_;
  std::size_t copied_ = 0;  // of those, taken by the writer and not given yet
};

/// `auto both = io::tee(socket, log);` a reader of `from` that writes to `to` whatever it gives,
/// and before it gives it. Neither is ever ahead of the other by more than one read. Each is
/// borrowed if it has a name, and moved along if not.
template <async_reader Reader, async_writer Writer>
[[nodiscard]] tee_reader<Reader, Writer> tee(Reader&& from, Writer&& to) {
  return {std::forward<Reader>(from), std::forward<Writer>(to)};
}

}  // namespace skua::inline SKUA_ABI::io
