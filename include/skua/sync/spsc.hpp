// skua/sync/spsc.hpp: messages from one sender to one receiver, without a lock.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/cache_line.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/blocking.hpp"
#include "skua/sync/channel_end.hpp"
#include "skua/sync/message_ring.hpp"
#include "skua/sync/send_result.hpp"
#include "skua/sync/spsc_end.hpp"
#include "skua/sync/spsc_wait.hpp"

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

/// `auto [tx, rx] = skua::spsc::channel<sample>(256);` As a bounded mpsc channel, for one sender
/// and one receiver, each of which is used by one task or thread at a time. A message costs one
/// atomic exchange at each end, and no lock.
namespace skua::inline SKUA_ABI::spsc {

/// What one end has for itself, in its own lines of memory.
struct alignas(interference_distance) side {
  spsc_end<std_atomics> end;  ///< How far it has come; the other looks.
  leaf* waits = nullptr;      ///< Who waits at this end; the other wakes it.
  std::uint64_t count = 0;    ///< How far it has come.
  std::size_t next = 0;       ///< Its next place.
  std::uint64_t seen = 0;     ///< How far the other was when it last looked,
  bool seen_closed = false;   ///< and whether it had closed.

  /// A look at the other.
  void look_at(const side& other) noexcept {
    const auto now = other.end.look();
    seen = now.count;
    seen_closed = now.closed;
  }
};

/// What both ends share.
template <typename T>
class shared_state : private require_message<T> {
public:
  explicit shared_state(std::size_t capacity) : capacity_(capacity), slots_(new slot[capacity]) {}
  shared_state(const shared_state&) = delete;
  shared_state& operator=(const shared_state&) = delete;

  // By the producer only.

  [[nodiscard]] bool is_closed() const noexcept {
    // order: none; a look. Who misses it sends a message that nobody receives.
    return producer.seen_closed || receiver_gone_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_room() noexcept {
    if (producer.count - producer.seen < capacity_) return true;
    producer.look_at(consumer);
    return producer.count - producer.seen < capacity_;
  }
  /// There is room.
  void put(T&& message) noexcept {
    ::new (place_of(producer)) T(std::move(message));
    advance(producer, consumer);
  }
  void drop_sender() noexcept {
    if (producer.end.close()) consumer.waits->complete();
    release();
  }

  // By the consumer only.

  [[nodiscard]] bool has_message() noexcept {
    if (consumer.count != consumer.seen) return true;
    consumer.look_at(producer);
    return consumer.count != consumer.seen;
  }
  /// Nothing will come. After has_message() said that nothing is there.
  [[nodiscard]] bool is_over() const noexcept { return consumer.seen_closed; }
  /// There is a message.
  [[nodiscard]] T take() noexcept {
    T* const oldest = std::launder(static_cast<T*>(place_of(consumer)));
    T message(std::move(*oldest));
    oldest->~T();
    advance(consumer, producer);
    return message;
  }
  void drop_receiver() noexcept {
    // order: none; see is_closed().
    receiver_gone_.store(true, std::memory_order_relaxed);
    while (has_message()) (void)take();
    if (consumer.end.close()) producer.waits->complete();
    release();
  }

  side producer;
  side consumer;

private:
  struct slot {
    alignas(T) std::byte bytes[sizeof(T)];
  };

  ~shared_state() {
    while (has_message()) (void)take();
    delete[] slots_;
  }
  void* place_of(const side& which) noexcept { return slots_ + which.next; }
  void advance(side& own, const side& other) noexcept {
    own.next = own.next + 1 == capacity_ ? 0 : own.next + 1;
    if (own.end.advance_to(++own.count)) other.waits->complete();
  }
  void release() noexcept {
    // order: [spsc.release] acq_rel: all uses by the one end, to the other, which frees it.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const std::size_t capacity_;
  slot* const slots_;
  std::atomic<bool> receiver_gone_ = false;
  std::atomic<int> references_ = 2;
};

/// One owner. It stays there while its send() waits. Moved from: it may be assigned to or
/// destroyed. When it goes the receiver gets what is inside, and then the end.
///
/// Cancellation: in `race(tx.send(x), sleep(1s))` x was sent if and only if the send won. A task
/// that is stopped while it waits for room has sent nothing, and its message is destroyed with it.
template <typename T>
class sender {
public:
  class send_wait;

  /// Use channel().
  explicit sender(shared_state<T>& of) noexcept : end_(of) {}

  /// `co_await tx.send(x)` gives a send_result<T>: sent, or closed and the message comes back.
  /// Waits while the channel is full. Once there is room it counts against the task's turn.
  [[nodiscard]] send_wait send(T message) noexcept {
    return send_wait(state(), std::move(message));
  }

  /// At once, or not: sent, full or closed.
  send_result<T> try_send(T message) noexcept {
    using reason = typename send_result<T>::reason;
    shared_state<T>& to = state();
    if (to.is_closed()) return {reason::closed, std::move(message)};
    if (!to.has_room()) return {reason::full, std::move(message)};
    to.put(std::move(message));
    return {};
  }

  /// send() for threads that may block. Throws std::logic_error on a worker of a runtime; the
  /// message is lost then.
  send_result<T> blocking_send(T message) {
    return block_thread_for("blocking_send", send(std::move(message)));
  }

  /// Whether the receiver is gone. It stays so.
  [[nodiscard]] bool is_closed() const noexcept { return state().is_closed(); }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &shared_state<T>::drop_sender> end_;
};

/// See send().
template <typename T>
class sender<T>::send_wait final : public spsc_wait {
public:
  send_wait(shared_state<T>& to, T&& message) noexcept
      : spsc_wait(to.consumer.end, to.producer.waits), to_(to), message_(std::move(message)) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (to_.has_room() || to_.is_closed()) return !take_from_budget(to_frame(self));
    wait_at(to_frame(self), to_.producer.seen);
    return true;
  }

  // What it waited for is still so: nobody else puts anything in.
  send_result<T> await_resume() noexcept {
    const bool room = to_.has_room();
    if (to_.is_closed()) return {send_result<T>::reason::closed, std::move(message_)};
    check(room, "a sender of a spsc channel sends one message at a time");
    to_.put(std::move(message_));
    return {};
  }

private:
  shared_state<T>& to_;
  T message_;
};

/// One owner. It stays there while its receive() waits. Moved from: it may be assigned to or
/// destroyed. When it goes what is inside is destroyed, and the sender is told. Cancellation loses
/// nothing: a message leaves the channel only when the task goes on.
template <typename T>
class receiver {
public:
  class receive_wait;

  /// Use channel().
  explicit receiver(shared_state<T>& of) noexcept : end_(of) {}

  /// `while (auto one = co_await rx.receive()) ...` gives a std::optional<T>, empty at the end: the
  /// sender is gone, and everything it sent has been received. Once something is there it counts
  /// against the task's turn.
  [[nodiscard]] receive_wait receive() noexcept { return receive_wait(state()); }

  /// At once; empty if nothing is there, or not any more: see is_over().
  [[nodiscard]] std::optional<T> try_receive() noexcept {
    shared_state<T>& from = state();
    if (!from.has_message()) return std::nullopt;
    return from.take();
  }

  /// receive() for threads that may block. Throws std::logic_error on a worker of a runtime.
  std::optional<T> blocking_receive() { return block_thread_for("blocking_receive", receive()); }

  /// Nothing is inside, and nothing will be. It stays so.
  [[nodiscard]] bool is_over() noexcept { return !state().has_message() && state().is_over(); }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &shared_state<T>::drop_receiver> end_;
};

/// See receive().
template <typename T>
class receiver<T>::receive_wait final : public spsc_wait {
public:
  explicit receive_wait(shared_state<T>& from) noexcept
      : spsc_wait(from.producer.end, from.consumer.waits), from_(from) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (from_.has_message() || from_.is_over()) return !take_from_budget(to_frame(self));
    wait_at(to_frame(self), from_.consumer.seen);
    return true;
  }

  std::optional<T> await_resume() noexcept {
    if (from_.has_message()) return from_.take();
    check(from_.is_over(), "a receiver of a spsc channel receives one message at a time");
    return std::nullopt;
  }

private:
  shared_state<T>& from_;
};

/// At least one place; they are allocated here. Throws std::bad_alloc.
template <typename T>
[[nodiscard]] std::pair<sender<T>, receiver<T>> channel(std::size_t capacity) {
  check(capacity > 0, "a spsc channel has room for a message: mpsc can do without");
  auto& shared = *new shared_state<T>(capacity);
  return {sender<T>(shared), receiver<T>(shared)};
}

}  // namespace skua::inline SKUA_ABI::spsc
