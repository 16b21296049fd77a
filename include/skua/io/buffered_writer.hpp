// skua/io/buffered_writer.hpp: collects small writes, and writes them in one.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/byte_buffer.hpp"

#include <cstddef>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// A writer with a buffer before it:
///
///   io::buffered_writer output(socket);                 // borrows the socket
///   for (const auto& row : rows) co_await or_return(co_await output.write_all(as_bytes(row)));
///   co_await or_return(co_await output.flush());
///
/// `buffered_writer output(std::move(socket))` has it for itself. One call at a time, by any task.
/// Moves while no call is under way.
///
/// What is in the buffer when this ends is lost, without a word. A destructor cannot wait for a
/// write; and it finds bytes here mostly because a write has failed or the task is being stopped,
/// when to end the program for it would be worse. Who wants the bytes written calls flush(), which
/// is also how to learn whether they were.
template <async_writer Writer>
class buffered_writer {
public:
  static constexpr std::size_t usual_capacity = 8192;  ///< bytes

  /// Borrows a writer that has a name, and has one that is moved in for itself. No capacity is 1.
  explicit buffered_writer(Writer&& to, std::size_t capacity = usual_capacity)
      : to_(std::forward<Writer>(to)), capacity_(capacity > 0 ? capacity : 1) {}

  /// Takes some of the bytes into the buffer; waits only if that is full, until it is written. As
  /// many as the buffer has room for, or more, go past it if it is empty. Fails as the writer does;
  /// then, or stopped, no byte was taken, and what was buffered and not written is still there.
  /// Throws std::bad_alloc with the first byte.
  [[nodiscard]] task<result<std::size_t>> write(std::span<const std::byte> from) {
    co_await consume_budget();
    if (from.empty()) co_return std::size_t{0};
    if (buffer_.size() >= capacity_) {
      const result<void> done = co_await flush();
      if (!done.has_value()) co_return fail(done.error());
    }
    if (buffer_.empty() && from.size() >= capacity_) co_return co_await to_.write(from);
    const std::size_t left = capacity_ - buffer_.size();
    if (left < from.size()) from = from.first(left);
    buffer_.append(from);
    co_return from.size();
  }

  /// Takes all of them. If it fails or is stopped, nobody knows how many were taken.
  [[nodiscard]] task<result<void>> write_all(std::span<const std::byte> from) {
    while (!from.empty()) {
      const result<std::size_t> took = co_await write(from);
      if (!took.has_value()) co_return fail(took.error());
      if (*took == 0) co_return fail(std::errc::io_error);
      from = from.subspan(*took);
    }
    co_return result<void>();
  }

  /// Everything that is buffered is written, and what is behind the writer is flushed if that has a
  /// buffer, too. If it fails or is stopped, what was not written is still there, and the next
  /// flush() goes on with the right byte. Fails as the writer does, or with std::errc::io_error if
  /// that takes nothing.
  [[nodiscard]] task<result<void>> flush() {
    while (!buffer_.empty()) {
      const result<std::size_t> took = co_await to_.write(buffer_.bytes());
      if (!took.has_value()) co_return fail(took.error());
      if (*took == 0) co_return fail(std::errc::io_error);
      buffer_.consume(*took);
    }
    if constexpr (requires { to_.flush(); }) co_return co_await to_.flush();
    co_return result<void>();
  }

  /// flush(), and then the writer's own: nothing more will come.
  [[nodiscard]] task<result<void>> shutdown_write()
    requires async_half_closable<Writer>
  {
    const result<void> done = co_await flush();
    if (!done.has_value()) co_return fail(done.error());
    co_return co_await to_.shutdown_write();
  }

  /// What is not written yet.
  [[nodiscard]] std::span<const std::byte> buffered() const noexcept { return buffer_.bytes(); }
  /// What it writes to. To write there directly overtakes what is buffered.
  [[nodiscard]] std::remove_reference_t<Writer>& inner() noexcept { return to_; }

private:
  Writer to_;
  byte_buffer buffer_;
  std::size_t capacity_;
};

/// A named writer is borrowed.
template <async_writer Writer>
buffered_writer(Writer&&) -> buffered_writer<Writer>;
/// A named writer is borrowed.
template <async_writer Writer>
buffered_writer(Writer&&, std::size_t) -> buffered_writer<Writer>;

}  // namespace skua::inline SKUA_ABI::io
