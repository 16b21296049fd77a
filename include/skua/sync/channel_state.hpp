// skua/sync/channel_state.hpp: what the handles of a channel share: its core and its messages.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/channel_core.hpp"
#include "skua/sync/message_ring.hpp"

#include <cstddef>
#include <limits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A bounded channel has one ring for its whole life. An unbounded one adds a larger ring when the
/// last is full, and frees each that is empty: so in the end one is left that is large enough, and
/// nothing is allocated any more.
template <typename T>
class channel_state final : public channel_core {
public:
  using ring = message_ring<T>;

  /// Bounded; 0 is a rendezvous. Throws std::bad_alloc.
  [[nodiscard]] static channel_state& make_bounded(std::size_t capacity) {
    const auto how = capacity == 0 ? kind::rendezvous : kind::bounded;
    const std::size_t places = capacity == 0 ? 1 : capacity;
    return *new channel_state(how, places, ring::make(places));
  }
  [[nodiscard]] static channel_state& make_unbounded() {
    return *new channel_state(kind::unbounded, std::numeric_limits<std::size_t>::max(),
                              ring::make(first_ring));
  }

  // Under the lock.

  /// There is room for it.
  void put(T&& message) noexcept {
    newest_->push(std::move(message));
    added_one();
  }

  /// There is one. Gives it to `to`, as an rvalue.
  template <typename Take>
  void take(Take to) noexcept {
    if (oldest_->empty()) [[unlikely]]
      retire_oldest();
    took_one();
    oldest_->pop(std::move(to));
  }

  /// Gives back the lock after put() or take().
  void unlock_after_move() noexcept {
    if (needs_care()) [[unlikely]]
      return unlock_with_care();
    unlock();
  }

  /// Unbounded: its place is in another ring. The caller makes one outside the lock and add()s it.
  [[nodiscard]] bool needs_ring() const noexcept { return newest_->full(); }
  [[nodiscard]] std::size_t places_of_next_ring() const noexcept {
    const std::size_t now = newest_->places();
    return now < largest_ring ? now * 2 : now;
  }
  void add(typename ring::hold more) noexcept {
    newest_->next = more.release();
    newest_ = newest_->next;
  }

private:
  static constexpr std::size_t first_ring = 16;
  static constexpr std::size_t largest_ring = 4096;

  channel_state(kind how, std::size_t places, typename ring::hold first) noexcept
      : channel_core(how, places), oldest_(first.release()), newest_(oldest_) {}
  ~channel_state() override {
    const typename ring::hold used(oldest_);
    const typename ring::hold unused(spent_);
  }

  void destroy_messages() noexcept override {
    lock();
    const typename ring::hold used(std::exchange(oldest_, nullptr));
    const typename ring::hold unused(std::exchange(spent_, nullptr));
    unlock();
  }

  void retire_oldest() noexcept {
    ring* const empty = std::exchange(oldest_, oldest_->next);
    empty->next = std::exchange(spent_, empty);
    note_unused_memory();
  }
  // Apart, so that the usual way calls nothing.
  [[gnu::noinline]] void unlock_with_care() noexcept {
    const typename ring::hold unused(std::exchange(spent_, nullptr));
    forget_unused_memory();
    unlock_and_serve();
  }

  ring* oldest_;
  ring* newest_;           // the same, unless it grows
  ring* spent_ = nullptr;  // to be freed outside the lock
};

}  // namespace skua::inline SKUA_ABI
