// skua/sync/channel_state.hpp: what the handles of a channel share: its core and its messages.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/channel_core.hpp"
#include "skua/sync/message_ring.hpp"

#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A bounded channel has one ring for its whole life; see unbounded_state for the other.
template <typename T>
class channel_state : public channel_core {
public:
  using ring = message_ring<T>;

  /// Bounded; 0 is a rendezvous. Throws std::bad_alloc.
  [[nodiscard]] static channel_state& make_bounded(std::size_t capacity) {
    const auto how = capacity == 0 ? kind::rendezvous : kind::bounded;
    const std::size_t places = capacity == 0 ? 1 : capacity;
    return *new channel_state(how, places, ring::make(places));
  }

  // Under the lock.

  /// Bounded: there is room for it.
  void put(T&& message) noexcept {
    oldest_->push(std::move(message));
    added_one();
  }

  /// There is one: so it is where take() looks for it.
  [[nodiscard]] bool has_oldest() const noexcept { return !oldest_->empty(); }
  /// There is one. Afterwards it is there.
  void find_oldest() noexcept {
    if (!has_oldest()) [[unlikely]]
      empty_next_ring();
  }
  /// It is there. Gives it to `to`, as an rvalue.
  template <typename Take>
  void take(Take to) noexcept {
    took_one();
    oldest_->pop(std::move(to));
  }

  /// Gives back the lock after put() or take().
  void unlock_after_move() noexcept {
    if (needs_care()) [[unlikely]]
      return unlock_with_care();
    unlock();
  }

protected:
  channel_state(kind how, std::size_t places, typename ring::hold first) noexcept
      : channel_core(how, places), oldest_(first.release()) {}
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

private:
  // Unbounded, under the lock: all that has arrived, for a ring that is empty.
  virtual ring* take_arrived(ring* empty) noexcept { return empty; }

  // There is a message, but it is behind this ring.
  [[gnu::noinline]] void empty_next_ring() noexcept {
    if (oldest_->next == nullptr) {
      oldest_ = take_arrived(oldest_);
      return;
    }
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
  ring* spent_ = nullptr;  // to be freed outside the lock
};

}  // namespace skua::inline SKUA_ABI
