// skua/sync/oneshot.hpp: one message from one sender to one receiver.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/recycler.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/blocking.hpp"
#include "skua/sync/channel_end.hpp"
#include "skua/sync/message_ring.hpp"
#include "skua/sync/news_core.hpp"
#include "skua/sync/send_result.hpp"

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

/// `auto [tx, rx] = skua::oneshot::channel<answer>();` for an answer that comes later, from any
/// task, thread or runtime. One allocation in all.
namespace skua::inline SKUA_ABI::oneshot {

/// What both ends share. The message is under its lock.
template <typename T>
class shared_state final : public news_core, private require_message<T> {
public:
  std::optional<T> message;

  // Made and freed as often as frames are, and as small.
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { free_frame(memory, size); }

  /// Under the lock: what is there, which is nothing afterwards.
  [[nodiscard]] std::optional<T> take_message() noexcept {
    return std::exchange(message, std::nullopt);
  }
  /// The same, to an empty place.
  void move_message_to(std::optional<T>& place) noexcept {
    if (!message) return;
    place.emplace(std::move(*message));
    message.reset();
  }
  void drop_receiver_and_message() noexcept {
    if (is_alone()) return end();
    lock();
    [[maybe_unused]] const auto unwanted = take_message();  // ends outside the lock
    unlock_and_drop_receiver();
  }

private:
  ~shared_state() override = default;
};

/// One owner. Moved from, or when it has sent: it may be assigned to or destroyed. When it goes
/// without having sent the receiver gets nothing.
template <typename T>
class sender {
public:
  /// Use channel().
  explicit sender(shared_state<T>& of) noexcept : end_(of) {}

  /// Once; never waits. Sent, or closed and the message comes back: the receiver is gone, or has
  /// closed the channel. If it goes later the message is destroyed.
  send_result<T> send(T message) noexcept {
    check(!end_.empty(), "a oneshot sends once");
    shared_state<T>& to = end_.release();
    to.lock();
    if (to.is_closed()) {
      to.unlock_and_drop_sender();
      return {send_result<T>::reason::closed, std::move(message)};
    }
    to.message.emplace(std::move(message));
    to.unlock_and_drop_sender();
    return {};
  }

  /// Whether nobody wants it any more.
  [[nodiscard]] bool is_closed() const noexcept { return state().is_closed_now(); }
  /// `co_await tx.closed();` until nobody wants it any more: to give up a long computation.
  [[nodiscard]] nobody_listens_wait closed() const noexcept { return nobody_listens_wait(state()); }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &news_core::drop_sender> end_;
};

/// One owner. `co_await std::move(rx)` or `co_await rx.receive()`. Moved from: it may be assigned
/// to or destroyed. When it goes the sender is told, and a message that is there is destroyed.
template <typename T>
class receiver {
public:
  using awaited_as_rvalue_tag = void;
  class receive_wait;

  /// Use channel().
  explicit receiver(shared_state<T>& of) noexcept : end_(of) {}

  /// Gives a std::optional<T>: empty if the sender has gone without sending, if the channel was
  /// closed before, or if the message was received already. Cancellation loses nothing: the message
  /// stays for the next receive(). The receiver must be there when the wait begins.
  [[nodiscard]] receive_wait receive() const noexcept { return receive_wait(state()); }
  /// `co_await std::move(rx)` is `co_await rx.receive()`.
  receive_wait operator co_await() && noexcept { return receive(); }

  /// At once; empty if nothing is there, or not any more.
  [[nodiscard]] std::optional<T> try_receive() const noexcept {
    shared_state<T>& from = state();
    from.lock();
    std::optional<T> message = from.take_message();
    from.unlock();
    return message;
  }

  /// receive() for threads that may block. Throws std::logic_error on a worker of a runtime.
  std::optional<T> blocking_receive() const {
    return block_thread_for("blocking_receive", receive());
  }

  /// The sender is refused from now on. What it has sent before can still be received.
  void close() const noexcept {
    state().lock();
    state().close();
    state().unlock_and_tell();
  }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &shared_state<T>::drop_receiver_and_message> end_;
};

/// See receive().
template <typename T>
class receiver<T>::receive_wait final : public news_wait {
public:
  explicit receive_wait(shared_state<T>& from) noexcept : news_wait(from), from_(from) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    from_.lock();
    if (from_.message || !from_.has_senders() || from_.is_closed()) return !receive_at_once(frame);
    if (arm(frame))
      start();
    else
      from_.unlock();
    return true;
  }

  std::optional<T> await_resume() noexcept {
    if (is_granted()) return take_what_came();
    return std::exchange(message_, std::nullopt);
  }

private:
  // Under the lock, which it gives back. Nothing can come between this and await_resume(), so what
  // is there is taken here; unless the task has used up its turn.
  bool receive_at_once(frame_handle self) noexcept {
    const bool has_turn = self.promise().context->spend_budget();
    if (has_turn)
      from_.move_message_to(message_);
    else
      ready_at_once();
    from_.unlock();
    if (!has_turn) give_way(self);
    return has_turn;
  }
  std::optional<T> take_what_came() noexcept {
    take();
    from_.lock();
    std::optional<T> message = from_.take_message();
    from_.unlock_and_release();
    return message;
  }

  shared_state<T>& from_;
  std::optional<T> message_;
};

/// Throws std::bad_alloc.
template <typename T>
[[nodiscard]] std::pair<sender<T>, receiver<T>> channel() {
  auto& shared = *new shared_state<T>();
  return {sender<T>(shared), receiver<T>(shared)};
}

}  // namespace skua::inline SKUA_ABI::oneshot
