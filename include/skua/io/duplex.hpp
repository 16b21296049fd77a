// skua/io/duplex.hpp: two connected streams in memory.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/sync/spsc_wait.hpp"

#include <coroutine>
#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::io {

class byte_pipe;
class duplex_state;

/// One of two ends: what is written to the one is read from the other, in order, like a socket but
/// without the kernel: for tests, and between parts of one program. The two may be on two threads;
/// and of one end, the reading and the writing. One read and one write at a time.
///
/// Ends when it is destroyed: the other end reads what is inside, and then the end; what it writes
/// from then on fails. Moves while nothing is under way. Moved from: it may be assigned to or
/// destroyed.
///
/// Cancellation loses nothing, neither a stop nor a lost race: bytes move when the task *goes on*.
/// Waiting allocates nothing, and there is no lock: a read or write is one atomic exchange.
class [[gnu::visibility("default")]] duplex_stream {
public:
  class read_wait;
  class write_wait;

  /// `from` is no end of anything then.
  duplex_stream(duplex_stream&& from) noexcept
      : of_(std::exchange(from.of_, nullptr)), which_(from.which_) {}
  /// The end that it was is dropped.
  duplex_stream& operator=(duplex_stream from) noexcept {
    std::swap(of_, from.of_);
    std::swap(which_, from.which_);
    return *this;
  }
  ~duplex_stream() {
    if (of_ != nullptr) drop();
  }

  /// Gives a result<std::size_t>: what is there, up to as much as there is room for; 0 at the end.
  /// Waits while nothing is there. Once something is there it counts against the task's turn.
  [[nodiscard]] read_wait read(std::span<std::byte> into) noexcept;

  /// Gives a result<std::size_t>: takes as many as there is room for, and waits while there is
  /// none. Errors: std::errc::broken_pipe if the other end is gone, or after shutdown_write().
  [[nodiscard]] write_wait write(std::span<const std::byte> from) noexcept;

  /// The other end reads what is inside, and then the end. Never waits, nor fails. Not while a
  /// write is under way.
  [[nodiscard]] task<result<void>> shutdown_write();

private:
  friend class duplex_state;
  duplex_stream(duplex_state& of, int which) noexcept : of_(&of), which_(which) {}
  void drop() noexcept;
  [[nodiscard]] byte_pipe& incoming() const noexcept;
  [[nodiscard]] byte_pipe& outgoing() const noexcept;

  duplex_state* of_;
  int which_;
};

/// `auto [client, server] = io::duplex(4096);` with room for so many bytes, at least one, in each
/// direction, which are allocated here. Throws std::bad_alloc.
[[nodiscard, gnu::visibility("default")]] std::pair<duplex_stream, duplex_stream> duplex(
    std::size_t capacity);

/// See duplex_stream::read().
class [[gnu::visibility("default")]] duplex_stream::read_wait final : public spsc_wait {
public:
  read_wait(byte_pipe& from, std::span<std::byte> into) noexcept;

  bool await_ready() const noexcept { return into_.empty(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return suspend(to_frame(self));
  }
  result<std::size_t> await_resume() noexcept;

private:
  bool suspend(frame_handle self) noexcept;

  byte_pipe& from_;
  const std::span<std::byte> into_;
};

/// See duplex_stream::write().
class [[gnu::visibility("default")]] duplex_stream::write_wait final : public spsc_wait {
public:
  write_wait(byte_pipe& to, std::span<const std::byte> from) noexcept;

  bool await_ready() const noexcept { return from_.empty(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return suspend(to_frame(self));
  }
  result<std::size_t> await_resume() noexcept;

private:
  bool suspend(frame_handle self) noexcept;

  byte_pipe& to_;
  const std::span<const std::byte> from_;
};

}  // namespace skua::inline SKUA_ABI::io
