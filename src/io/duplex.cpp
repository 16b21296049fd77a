// src/io/duplex.cpp: two pipes of bytes, and who waits at their ends.
#include "skua/io/duplex.hpp"

#include "io/byte_pipe.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/yield.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>

namespace skua::inline SKUA_ABI::io {

/// What both ends share. End 0 writes to the first pipe and reads from the second.
class duplex_state {
public:
  static std::pair<duplex_stream, duplex_stream> make(std::size_t capacity) {
    auto& shared = *new duplex_state(capacity);
    return {duplex_stream(shared, 0), duplex_stream(shared, 1)};
  }
  byte_pipe& written_by(int which) noexcept { return which == 0 ? first_ : second_; }
  void release() noexcept {
    // order: [duplex.release] acq_rel: all uses by the one end, to the other, which frees it.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

private:
  explicit duplex_state(std::size_t capacity) : first_(capacity), second_(capacity) {}

  byte_pipe first_;
  byte_pipe second_;
  std::atomic<int> references_ = 2;
};

std::pair<duplex_stream, duplex_stream> duplex(std::size_t capacity) {
  check(capacity > 0, "a duplex has room for a byte");
  return duplex_state::make(capacity);
}

byte_pipe& duplex_stream::outgoing() const noexcept {
  check(of_ != nullptr, "an end of a duplex is used while it has one");
  return of_->written_by(which_);
}

byte_pipe& duplex_stream::incoming() const noexcept {
  check(of_ != nullptr, "an end of a duplex is used while it has one");
  return of_->written_by(1 - which_);
}

void duplex_stream::drop() noexcept {
  outgoing().close_writing();
  incoming().close_reading();
  of_->release();
}

task<result<void>> duplex_stream::shutdown_write() {
  outgoing().close_writing();
  co_return result<void>();
}

duplex_stream::read_wait duplex_stream::read(std::span<std::byte> into) noexcept {
  return {incoming(), into};
}

duplex_stream::write_wait duplex_stream::write(std::span<const std::byte> from) noexcept {
  return {outgoing(), from};
}

duplex_stream::read_wait::read_wait(byte_pipe& from, std::span<std::byte> into) noexcept
    : spsc_wait(from.producer.end, from.consumer.waits), from_(from), into_(into) {}

bool duplex_stream::read_wait::suspend(frame_handle self) noexcept {
  if (from_.stored() > 0 || from_.is_over()) return !take_from_budget(self);
  wait_at(self, from_.consumer.seen);
  return true;
}

// What it waited for is still so: nobody else takes anything.
result<std::size_t> duplex_stream::read_wait::await_resume() noexcept {
  if (into_.empty()) return 0;
  const std::size_t count = std::min(from_.stored(), into_.size());
  check(count > 0 || from_.is_over(), "an end of a duplex has one read under way at a time");
  if (count > 0) from_.take(into_.first(count));
  return count;
}

duplex_stream::write_wait::write_wait(byte_pipe& to, std::span<const std::byte> from) noexcept
    : spsc_wait(to.consumer.end, to.producer.waits), to_(to), from_(from) {}

bool duplex_stream::write_wait::suspend(frame_handle self) noexcept {
  if (to_.room() > 0 || to_.is_broken()) return !take_from_budget(self);
  wait_at(self, to_.producer.seen);
  return true;
}

result<std::size_t> duplex_stream::write_wait::await_resume() noexcept {
  if (from_.empty()) return 0;
  const std::size_t count = std::min(to_.room(), from_.size());
  if (to_.is_broken()) return fail(std::errc::broken_pipe);
  check(count > 0, "an end of a duplex has one write under way at a time");
  to_.put(from_.first(count));
  return count;
}

}  // namespace skua::inline SKUA_ABI::io
