// skua/net/idle_limited.hpp: a stream whose reads and writes do not wait for ever.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/time/time_span.hpp"

#include <coroutine>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// An operation that gives up after a while, with std::errc::timed_out. Awaited where it is made.
template <typename Operation>
class limited_operation {
public:
  using skua_awaiter_tag = void;

  template <typename Begin>
  limited_operation(time_span limit, Begin begin) noexcept : what_(begin()) {
    what_.expire_after(limit.count());
  }

  bool await_ready() const noexcept { return what_.await_ready(); }
  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return what_.await_suspend(self);
  }
  auto await_resume() { return what_.await_resume(); }

private:
  Operation what_;
};

/// Owns a stream, and each single read and write of it fails with std::errc::timed_out if the other
/// side does nothing for so long:
///
///   net::idle_limited peer(std::move(stream), 30s);
///   auto n = co_await or_return(co_await peer.read(buffer));
///
/// It is a reader and a writer as the stream is, with the same errors besides; all else is at
/// stream(). Costs no allocation: the limit is a timer in the operation.
template <typename Stream>
class idle_limited {
public:
  /// Has the stream for itself. `limit`: of each read and write, from its begin on.
  idle_limited(Stream stream, time_span limit) noexcept
      : stream_(std::move(stream)), limit_(limit) {}

  /// As the stream's, or std::errc::timed_out. Awaited where it is called.
  [[nodiscard]] auto read(std::span<std::byte> into) noexcept {
    auto begin = [this, into] { return stream_.read(into); };
    return limited_operation<decltype(begin())>(limit_, begin);
  }
  /// As the stream's, or std::errc::timed_out. Awaited where it is called.
  [[nodiscard]] auto write(std::span<const std::byte> from) noexcept {
    auto begin = [this, from] { return stream_.write(from); };
    return limited_operation<decltype(begin())>(limit_, begin);
  }
  /// The limit is for each part that goes out, not for the whole. See stream_socket::write_all().
  [[nodiscard]] task<result<void>> write_all(std::span<const std::byte> all) {
    while (!all.empty()) {
      const result<std::size_t> some = co_await write(all);
      if (!some.has_value()) co_return fail(some.error());
      all = all.subspan(*some);
    }
    co_return {};
  }

  /// Waits for nobody, and has no limit.
  [[nodiscard]] auto shutdown_write() noexcept { return stream_.shutdown_write(); }

  /// For all else that it can do, without a limit.
  [[nodiscard]] Stream& stream() noexcept { return stream_; }
  /// Gives it back; this is good for nothing then.
  [[nodiscard]] Stream take() noexcept { return std::move(stream_); }

private:
  Stream stream_;
  time_span limit_;
};

}  // namespace skua::inline SKUA_ABI::net
