// skua/sync/unbounded_state.hpp: a channel in which senders and receivers hardly ever meet.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/cache_line.hpp"
#include "skua/base/short_lock.hpp"
#include "skua/sync/channel_state.hpp"

#include <cstddef>
#include <limits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// There are rings that senders fill, and others that receivers empty: who finds the latter empty
/// takes all of the former. Senders add a ring when the last is full, a larger one up to some size;
/// receivers free each that is empty, and the last of theirs is filled next. Where many messages
/// fit into a ring that is recycled it is no larger than that.
template <typename T>
class unbounded_state final : public channel_state<T> {
public:
  using ring = message_ring<T>;

  /// Throws std::bad_alloc.
  [[nodiscard]] static unbounded_state& make() {
    return *new unbounded_state(ring::make(first_ring));
  }

  /// False if it is closed, and the message is still there. Throws std::bad_alloc. Not under the
  /// lock.
  [[nodiscard]] bool put(T& message) {
    in_.lock.lock();
    if (in_.closed || in_.awaited || needs_ring()) [[unlikely]]
      return put_with_care(message);
    push(message);
    in_.lock.unlock();  // from here on it may be received, and this be gone
    return true;
  }

private:
  static constexpr std::size_t first_ring = 16;
  static constexpr std::size_t many = 64;
  static constexpr std::size_t largest_ring =
      ring::recycled_places() >= many ? ring::recycled_places() : 4096;

  // Under a lock of its own, and away from what receivers write.
  struct alignas(interference_distance) inbox : channel_core::arrivals {
    // Both null before the first message.
    ring* oldest = nullptr;
    ring* newest = nullptr;  // the same, unless it grows
  };

  explicit unbounded_state(typename ring::hold first) noexcept
      : channel_state<T>(channel_core::kind::unbounded, std::numeric_limits<std::size_t>::max(),
                         std::move(first)) {
    this->arrive_in(in_);
  }
  ~unbounded_state() override { const typename ring::hold arrived(in_.oldest); }

  ring* take_arrived(ring* empty) noexcept override {
    const short_hold hold(in_.lock);
    in_.newest = empty;
    return std::exchange(in_.oldest, empty);
  }

  void destroy_messages() noexcept override {
    in_.lock.lock();
    const typename ring::hold arrived(std::exchange(in_.oldest, nullptr));
    in_.newest = nullptr;
    in_.lock.unlock();
    channel_state<T>::destroy_messages();
  }

  // Under the lock of the inbox.

  [[nodiscard]] bool needs_ring() const noexcept {
    return in_.newest == nullptr || in_.newest->full();
  }
  [[nodiscard]] std::size_t places_of_next_ring() const noexcept {
    if (in_.newest == nullptr) return first_ring;
    const std::size_t now = in_.newest->places();
    return now < largest_ring / 2 ? now * 2 : largest_ring;
  }
  void add(typename ring::hold more) noexcept {
    ring*& last = in_.newest == nullptr ? in_.oldest : in_.newest->next;
    last = more.release();
    in_.newest = last;
  }

  void push(T& message) noexcept {
    in_.newest->push(std::move(message));
    ++in_.count;
  }

  // Gives it back. Apart, so that the usual way calls nothing.
  [[gnu::noinline]] bool put_with_care(T& message) {
    typename ring::hold more;  // made and freed while nobody has to wait for that
    bool inside = false;       // under the lock of the channel, too
    while (!in_.closed) {
      if (in_.awaited && !inside) {
        // Before the message is there: who receives it may be the last to use this.
        inside = this->try_lock();
        if (inside) continue;
        in_.lock.unlock();
        this->lock();
        inside = true;
      } else if (!needs_ring()) {
        break;
      } else if (more) {
        add(std::move(more));
        break;
      } else {
        const std::size_t places = places_of_next_ring();
        in_.lock.unlock();
        if (std::exchange(inside, false)) this->unlock();
        more = ring::make(places);
      }
      in_.lock.lock();
    }
    const bool closed = in_.closed;
    if (!closed) push(message);
    in_.lock.unlock();
    if (inside) this->unlock_and_serve();
    return !closed;
  }

  inbox in_;
};

}  // namespace skua::inline SKUA_ABI
