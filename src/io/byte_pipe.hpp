// src/io/byte_pipe.hpp: a ring of bytes from one task to another, without a lock.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/spsc.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace skua::inline SKUA_ABI::io {

/// One direction of a duplex: the sides and their waits are those of a spsc channel, but each moves
/// on by many bytes at a time.
class byte_pipe {
public:
  explicit byte_pipe(std::size_t capacity) : ring_(capacity) {}

  // By who writes.

  /// How many bytes could be put in now.
  [[nodiscard]] std::size_t room() noexcept {
    producer.look_at(consumer);
    return ring_.size() - static_cast<std::size_t>(producer.count - producer.seen);
  }
  /// After room(): nobody will read, or the writer has closed.
  [[nodiscard]] bool is_broken() const noexcept { return producer.seen_closed || ended_; }
  /// There is so much room.
  void put(std::span<const std::byte> from) noexcept {
    const std::size_t before_end = std::min(from.size(), ring_.size() - producer.next);
    std::ranges::copy(from.first(before_end), ring_.begin() + offset(producer));
    std::ranges::copy(from.subspan(before_end), ring_.begin());
    advance(producer, consumer, from.size());
  }
  void close_writing() noexcept {
    if (ended_) return;
    ended_ = true;
    if (producer.end.close()) consumer.waits->complete();
  }

  // By who reads.

  /// How many bytes could be taken now.
  [[nodiscard]] std::size_t stored() noexcept {
    consumer.look_at(producer);
    return static_cast<std::size_t>(consumer.seen - consumer.count);
  }
  /// After stored() was 0: nothing will come.
  [[nodiscard]] bool is_over() const noexcept { return consumer.seen_closed; }
  /// So many are there.
  void take(std::span<std::byte> into) noexcept {
    const std::span<const std::byte> ring(ring_);
    const std::size_t before_end = std::min(into.size(), ring.size() - consumer.next);
    std::ranges::copy(ring.subspan(consumer.next, before_end), into.begin());
    std::ranges::copy(ring.first(into.size() - before_end), into.subspan(before_end).begin());
    advance(consumer, producer, into.size());
  }
  void close_reading() noexcept {
    if (consumer.end.close()) producer.waits->complete();
  }

  spsc::side producer;
  spsc::side consumer;

private:
  static std::ptrdiff_t offset(const spsc::side& of) noexcept {
    return static_cast<std::ptrdiff_t>(of.next);
  }
  void advance(spsc::side& own, const spsc::side& other, std::size_t count) noexcept {
    own.next = own.next + count < ring_.size() ? own.next + count : own.next + count - ring_.size();
    own.count += count;
    if (own.end.advance_to(own.count)) other.waits->complete();
  }

  std::vector<std::byte> ring_;
  bool ended_ = false;  // by who writes
};

}  // namespace skua::inline SKUA_ABI::io
