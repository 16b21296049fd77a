// skua/io/buffered_reader.hpp: reads much at a time, and gives it in the pieces that are wanted.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/byte_buffer.hpp"
#include "skua/io/frame.hpp"
#include "skua/io/framing.hpp"

#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// A reader with a buffer before it, for who looks at bytes before it uses them up:
///
///   io::buffered_reader input(socket);                   // borrows the socket
///   while (auto line = co_await or_return(co_await input.read_line())) use(line->text());
///
/// `buffered_reader input(std::move(socket))` has it for itself (Reader is then no reference). One
/// call at a time, by any task. Moves while no call is under way.
///
/// All that waits is a task. Cancellation loses nothing, neither a stop nor a lost race: what came
/// in stays in the buffer until a call *returns* it. Errors of the reader are passed on; what came
/// before them stays. The end is final: who gave it is not asked again. All throw std::bad_alloc if
/// the buffer cannot grow, which loses nothing; but a read() of large_read bytes or more that loses
/// a race then cannot keep what it got.
template <async_reader Reader>
class buffered_reader {
public:
  /// Borrows a reader that has a name, and has one that is moved in for itself.
  explicit buffered_reader(Reader&& from) : from_(std::forward<Reader>(from)) {}

  /// What is buffered; if nothing is, what the reader gives. A room of large_read bytes or more is
  /// filled without a detour. Makes this a reader.
  [[nodiscard]] task<result<std::size_t>> read(std::span<std::byte> into);

  /// Waits until `at_least` so many bytes are buffered, and gives all that are, without using them
  /// up; fewer only at the end of the stream. Valid until the next call other than consume().
  [[nodiscard]] task<result<std::span<const std::byte>>> fill_buffer(std::size_t at_least = 1);
  /// What is buffered now, as fill_buffer() gives it. Does not wait.
  [[nodiscard]] std::span<const std::byte> buffered() const noexcept { return buffer_.bytes(); }
  /// So many bytes of those are used up.
  void consume(std::size_t count) noexcept { buffer_.consume(count); }
  /// Takes from those as many as there are and as there is room for; says how many.
  std::size_t take(std::span<std::byte> into) noexcept { return buffer_.move_to(into); }

  /// The next frame of the stream by this rule, which may be another one next time; none at the
  /// end. Valid until the next call other than buffered(). Errors: errc::limit_exceeded (longer
  /// than the rule allows) and errc::end_of_stream (the stream ended in the middle); both stay, and
  /// leave the bytes in the buffer.
  [[nodiscard]] task<result<std::optional<frame>>> read_frame(const framing& rule);
  /// The same for a line, without its end.
  [[nodiscard]] task<result<std::optional<frame>>> read_line(
      std::size_t limit = framing::usual_limit);

  /// What it reads from. To read there directly leaves out what is buffered.
  [[nodiscard]] std::remove_reference_t<Reader>& inner() noexcept { return from_; }

  /// Bytes: from here on a room is read into directly, past the buffer.
  static constexpr std::size_t large_read = 8192;

private:
  static constexpr std::size_t least_room = 1024;

  [[nodiscard]] task<result<std::size_t>> read_past_buffer(std::span<std::byte> into);
  [[nodiscard]] task<result<void>> read_more();

  Reader from_;
  byte_buffer buffer_;
  bool at_end_ = false;
};

/// A named reader is borrowed.
template <typename Reader>
buffered_reader(Reader&&) -> buffered_reader<Reader>;

// --- how

// Once the bytes are in the buffer, who was asked to stop (it has lost a race, say) stops: if it
// went on, it would use them up for a result that nobody takes.
template <async_reader Reader>
task<result<void>> buffered_reader<Reader>::read_more() {
  const std::span<std::byte> room = buffer_.make_room(least_room);
  const result<std::size_t> got = co_await from_.read(room);
  if (!got.has_value()) co_return fail(got.error());
  buffer_.add(*got);
  at_end_ = *got == 0;
  if (co_await stop_requested()) co_await yield();
  co_return result<void>();
}

template <async_reader Reader>
task<result<std::size_t>> buffered_reader<Reader>::read_past_buffer(std::span<std::byte> into) {
  const result<std::size_t> got = co_await from_.read(into);
  if (got.has_value()) at_end_ = *got == 0;
  const bool unwanted = co_await stop_requested();
  if (!unwanted) co_return got;
  try {
    if (got.has_value()) buffer_.append(into.first(*got));
  } catch (const std::bad_alloc&) {
    co_return got;  // rather than losing them: who is stopped elsewhere still gets them
  }
  co_await yield();
  co_return got;
}

template <async_reader Reader>
task<result<std::size_t>> buffered_reader<Reader>::read(std::span<std::byte> into) {
  co_await consume_budget();
  if (into.empty()) co_return std::size_t{0};
  if (buffer_.empty() && !at_end_) {
    if (into.size() >= large_read) co_return co_await read_past_buffer(into);
    const result<void> more = co_await read_more();
    if (!more.has_value()) co_return fail(more.error());
  }
  co_return buffer_.move_to(into);
}

template <async_reader Reader>
task<result<std::span<const std::byte>>> buffered_reader<Reader>::fill_buffer(
    std::size_t at_least) {
  co_await consume_budget();
  while (buffer_.size() < at_least && !at_end_) {
    const result<void> more = co_await read_more();
    if (!more.has_value()) co_return fail(more.error());
  }
  co_return buffer_.bytes();
}

template <async_reader Reader>
task<result<std::optional<frame>>> buffered_reader<Reader>::read_frame(const framing& rule) {
  using kind = framing::cut::kind;
  co_await consume_budget();
  std::size_t seen = 0;
  for (;;) {
    if (buffer_.empty() && at_end_) co_return std::optional<frame>();
    framing::cut found;
    if (!buffer_.empty()) found = rule.find(buffer_.bytes(), seen, at_end_);
    if (found.what == kind::too_long) co_return fail(errc::limit_exceeded);
    if (found.what == kind::early_end) co_return fail(errc::end_of_stream);
    if (found.what == kind::frame) {
      const frame whole(buffer_.bytes().subspan(found.begin, found.end - found.begin));
      buffer_.consume(found.next);
      co_return std::optional<frame>(whole);
    }
    seen = found.next;
    const result<void> more = co_await read_more();
    if (!more.has_value()) co_return fail(more.error());
  }
}

template <async_reader Reader>
task<result<std::optional<frame>>> buffered_reader<Reader>::read_line(std::size_t limit) {
  const framing rule = framing::lines(limit);
  co_return co_await read_frame(rule);
}

}  // namespace skua::inline SKUA_ABI::io
