// skua/sync/broadcast.hpp: every receiver gets every message, unless it is too slow.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/blocking.hpp"
#include "skua/sync/channel_end.hpp"
#include "skua/sync/news_core.hpp"
#include "skua/sync/shared_value.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

/// `auto [tx, rx] = skua::broadcast::channel<event>(128);` Every receiver gets every message that
/// is sent after it subscribed. The last `capacity` are kept; who is further behind is told how
/// many it has missed, and goes on with the oldest that is kept. So a slow receiver holds nobody
/// up. Any task, thread or runtime.
namespace skua::inline SKUA_ABI::broadcast {

/// What receive() gives: a message, a number of lost ones, or the end.
template <typename T>
class [[nodiscard]] reception {
public:
  /// The end, or nothing at the moment.
  reception() = default;
  /// Made by receive().
  explicit reception(shared_value<T> message) noexcept : message_(std::move(message)) {}
  /// Made by receive().
  explicit reception(std::uint64_t lost) noexcept : lost_(lost) {}

  /// There is a message: neither a loss nor the end.
  [[nodiscard]] bool has_value() const noexcept { return static_cast<bool>(message_); }
  /// There is a message.
  explicit operator bool() const noexcept { return has_value(); }

  /// The message, which all receivers share. Only if there is one.
  [[nodiscard]] const T& operator*() const noexcept { return *message_; }
  /// A part of the message. Only if there is one.
  [[nodiscard]] const T* operator->() const noexcept { return &*message_; }
  /// To keep it without a copy; empty if there is none.
  [[nodiscard]] const shared_value<T>& message() const noexcept { return message_; }

  /// So many messages were lost to this receiver, since it was too slow; it goes on with the next
  /// receive(). 0 if none.
  [[nodiscard]] std::uint64_t lagged() const noexcept { return lost_; }

private:
  shared_value<T> message_;
  std::uint64_t lost_ = 0;
};

/// What all ends share.
template <typename T>
class shared_state final : public news_core {
public:
  explicit shared_state(std::size_t capacity)
      : capacity_(capacity), kept_(new shared_value<T>[capacity]) {}

  // Under the lock.

  /// How many were ever sent.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  /// In exchange for the oldest that is kept.
  void put(shared_value<T>& message) noexcept { std::swap(kept_[sent_++ % capacity_], message); }
  /// There is something for one who has got so many.
  [[nodiscard]] bool has_news(std::uint64_t got) const noexcept {
    return got != sent_ || !has_senders();
  }
  [[nodiscard]] reception<T> next(std::uint64_t& got) noexcept {
    if (got == sent_) return {};
    if (sent_ - got > capacity_) {
      const std::uint64_t oldest = sent_ - capacity_;
      return reception<T>(oldest - std::exchange(got, oldest));
    }
    return reception<T>(kept_[got++ % capacity_]);
  }

private:
  ~shared_state() override { delete[] kept_; }

  const std::size_t capacity_;
  shared_value<T>* const kept_;
  std::uint64_t sent_ = 0;
};

/// One task or thread at a time uses it; others use copies, which get what the one they were made
/// of has not got yet. Moved from: it may be assigned to or destroyed.
template <typename T>
class receiver {
public:
  class receive_wait;

  /// Use channel() or sender::subscribe().
  receiver(shared_state<T>& of, std::uint64_t got) noexcept : end_(of), got_(got) {}

  /// Gives a reception<T>: a message, how many were lost, or the end: the senders are gone, and
  /// everything was received. Cancellation loses nothing: the message is for the next receive().
  /// The receiver stays where it is while it waits.
  [[nodiscard]] receive_wait receive() noexcept { return receive_wait(state(), got_); }

  /// At once; neither a message nor a loss if nothing is there, or not any more: see is_over().
  [[nodiscard]] reception<T> try_receive() noexcept {
    shared_state<T>& from = state();
    from.lock();
    reception<T> found = from.next(got_);
    from.unlock();
    return found;
  }

  /// receive() for threads that may block. Throws std::logic_error on a worker of a runtime.
  reception<T> blocking_receive() { return block_thread_for("blocking_receive", receive()); }

  /// Everything was received, and nothing will come.
  [[nodiscard]] bool is_over() const noexcept {
    shared_state<T>& from = state();
    from.lock();
    const bool over = got_ == from.sent() && !from.has_senders();
    from.unlock();
    return over;
  }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &news_core::drop_receiver, &news_core::add_receiver_now> end_;
  std::uint64_t got_;
};

/// See receive().
template <typename T>
class receiver<T>::receive_wait final : public news_wait {
public:
  receive_wait(shared_state<T>& from, std::uint64_t& got) noexcept
      : news_wait(from), from_(from), got_(got) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    from_.lock();
    if (from_.has_news(got_)) {
      ready_at_once();
      from_.unlock();
      return !take_from_budget(frame);
    }
    if (arm(frame))
      start();
    else
      from_.unlock();
    return true;
  }

  reception<T> await_resume() noexcept {
    take();
    from_.lock();
    reception<T> found = from_.next(got_);
    from_.unlock_and_release();
    return found;
  }

private:
  shared_state<T>& from_;
  std::uint64_t& got_;
};

/// Any number of tasks and threads may use one, or each a copy of its own. When the last is gone
/// the receivers get what they have not got yet, and then the end. Moved from: it may be assigned
/// to or destroyed.
template <typename T>
class sender {
public:
  /// Use channel().
  explicit sender(shared_state<T>& of) noexcept : end_(of) {}

  /// Gives how many receivers there are to see it; 0 if it was for nobody. Never waits. The message
  /// is kept until as many others as are kept have come after it. Allocates it; throws
  /// std::bad_alloc, and nothing was sent then.
  std::size_t send(T value) const {
    shared_state<T>& to = state();
    auto message = shared_value<T>::make(std::move(value));
    to.lock();
    const std::size_t listeners = to.receivers();
    if (listeners > 0) to.put(message);  // the one in its place ends outside the lock
    to.unlock_and_tell();
    return listeners;
  }

  /// Another receiver, for what is sent from now on.
  [[nodiscard]] receiver<T> subscribe() const noexcept {
    shared_state<T>& at = state();
    at.lock();
    at.add_receiver();
    const std::uint64_t got = at.sent();
    at.unlock();
    return receiver<T>(at, got);
  }

  /// Whether there is no receiver now; another may subscribe.
  [[nodiscard]] bool is_closed() const noexcept { return state().is_closed_now(); }
  /// `co_await tx.closed();` until there is no receiver.
  [[nodiscard]] nobody_listens_wait closed() const noexcept { return nobody_listens_wait(state()); }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &news_core::drop_sender, &news_core::add_sender> end_;
};

/// At least one message is kept. Throws std::bad_alloc.
template <typename T>
[[nodiscard]] std::pair<sender<T>, receiver<T>> channel(std::size_t capacity) {
  check(capacity > 0, "a broadcast keeps at least one message");
  auto& shared = *new shared_state<T>(capacity);
  return {sender<T>(shared), receiver<T>(shared, 0)};
}

}  // namespace skua::inline SKUA_ABI::broadcast
