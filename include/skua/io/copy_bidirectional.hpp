// skua/io/copy_bidirectional.hpp: two streams joined, each fed with what the other gives.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/copy.hpp"

#include <cstdint>
#include <system_error>

namespace skua::inline SKUA_ABI::io {

/// How many bytes went each way.
class copied_both {
public:
  /// Made by copy_bidirectional().
  copied_both(std::uint64_t forth, std::uint64_t back) noexcept : forth_(forth), back_(back) {}
  /// From the first to the second.
  [[nodiscard]] std::uint64_t forth() const noexcept { return forth_; }
  /// From the second to the first.
  [[nodiscard]] std::uint64_t back() const noexcept { return back_; }

private:
  std::uint64_t forth_;
  std::uint64_t back_;
};

/// An error on its way out of one direction: it stops the other.
struct copy_failure {
  std::error_code why;
};

/// One direction, whose end is passed on. That the target has gone meanwhile is no error: it had
/// everything.
template <async_reader Reader, async_writer Writer>
task<std::uint64_t> copy_and_pass_on_end(Reader& from, Writer& to) {
  const result<std::uint64_t> moved = co_await io::copy(from, to);
  if (!moved.has_value()) throw copy_failure{moved.error()};
  if constexpr (async_half_closable<Writer>) {
    const result<void> ended = co_await to.shutdown_write();
    if (!ended.has_value() && ended.error() != std::errc::not_connected)
      throw copy_failure{ended.error()};
  }
  co_return *moved;
}

/// `co_await io::copy_bidirectional(client, server)`: a proxy. Copies both ways at once, within
/// this task, until both have ended. When the one ends, that is passed on by shutdown_write() to
/// the other, if it has that, while the way back goes on. Both are borrowed until it has ended.
///
/// Suspends, fails, throws and loses as copy() does; if one direction fails the other is stopped.
template <async_stream First, async_stream Second>
[[nodiscard]] task<result<copied_both>> copy_bidirectional(First& first, Second& second) {
  try {
    const auto [forth, back] =
        co_await when_all(copy_and_pass_on_end(first, second), copy_and_pass_on_end(second, first));
    co_return copied_both(forth, back);
  } catch (const copy_failure& failed) {
    co_return fail(failed.why);
  }
}

}  // namespace skua::inline SKUA_ABI::io
