// skua/sync/channel_sender.hpp: the sending end of mpsc and mpmc channels.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/blocking.hpp"
#include "skua/sync/channel_end.hpp"
#include "skua/sync/channel_state.hpp"
#include "skua/sync/send_result.hpp"

#include <coroutine>
#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A hold on a channel that counts as a sender. Copies are senders of the same channel; when the
/// last is gone who receives gets what is inside, and then the end. Moved from: it may be assigned
/// to or destroyed.
template <typename T>
class channel_sender_handle {
public:
  /// Use channel().
  explicit channel_sender_handle(channel_state<T>& of) noexcept : end_(of) {}

  /// Whether messages are refused: the receiver is gone, or has closed the channel. It stays so.
  [[nodiscard]] bool is_closed() const noexcept { return state().is_closed_now(); }

  /// `co_await tx.closed();` until messages are refused.
  [[nodiscard]] closed_wait closed() const noexcept { return closed_wait(state()); }

  /// Both send to the same channel.
  [[nodiscard]] bool same_channel(const channel_sender_handle& other) const noexcept {
    return end_ == other.end_;
  }

protected:
  /// For senders of other kinds.
  [[nodiscard]] channel_state<T>& state() const noexcept { return end_.get(); }

private:
  channel_end<channel_state<T>, &channel_core::drop_sender, &channel_core::add_sender> end_;
};

/// Any number of tasks and threads may use one, or each a copy of its own.
///
/// Cancellation: in `race(tx.send(x), sleep(1s))` x was sent if and only if the send won. A task
/// that is stopped while it waits for room has sent nothing, and its message is destroyed with it:
/// reserve() first if it must not be.
template <typename T>
class channel_sender : public channel_sender_handle<T> {
public:
  class send_wait;
  class reserve_wait;
  class permit;

  using channel_sender_handle<T>::channel_sender_handle;

  /// `co_await tx.send(x)` gives a send_result<T>: sent, or closed and the message comes back.
  /// Waits in line while the channel is full, first come, first served. Once there is room it
  /// counts against the task's turn. The sender must be there when the wait begins.
  [[nodiscard]] send_wait send(T message) const noexcept {
    return send_wait(this->state(), std::move(message));
  }

  /// At once, or not: sent, full or closed.
  send_result<T> try_send(T message) const noexcept;

  /// send() for threads that may block. Throws std::logic_error on a worker of a runtime; the
  /// message is lost then.
  send_result<T> blocking_send(T message) const {
    return block_thread_for("blocking_send", send(std::move(message)));
  }

  /// `co_await tx.reserve()` gives a permit: room for one message. Waits as send() does. The permit
  /// is empty if the channel is closed. Cancellation: the room goes to the next in line.
  [[nodiscard]] reserve_wait reserve() const noexcept { return reserve_wait(this->state()); }

  /// At once, or an empty permit: full or closed.
  [[nodiscard]] permit try_reserve() const noexcept;

  /// How many messages can be inside; 0 for a rendezvous.
  [[nodiscard]] std::size_t capacity() const noexcept { return this->state().capacity(); }
};

/// Room for one message, until it is used, released or gone. Moves; may be empty, and then is
/// false. It may outlive the sender; until it is used or gone the receiver does not see the end.
template <typename T>
class [[nodiscard]] channel_sender<T>::permit {
public:
  permit() = default;
  /// `from` is empty then.
  permit(permit&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
  /// The room that it had is given back. `from` is empty then.
  permit& operator=(permit&& from) noexcept {
    if (this != &from) {
      release();
      of_ = std::exchange(from.of_, nullptr);
    }
    return *this;
  }
  ~permit() { release(); }

  /// There is room: it was neither used nor released, and the channel was not closed.
  explicit operator bool() const noexcept { return of_ != nullptr; }

  /// Neither waits nor fails, and uses the permit up. If the last receiver has gone meanwhile the
  /// message is destroyed, as it would have been inside.
  void send(T message) noexcept {
    check(of_ != nullptr, "a permit sends once");
    channel_state<T>& to = *std::exchange(of_, nullptr);
    to.lock();
    to.end_promise_of_room();
    if (to.has_receivers()) to.put(std::move(message));
    to.unlock_and_release();
  }

  /// Gives the room back. Nothing if it is empty.
  void release() noexcept {
    if (of_ == nullptr) return;
    channel_state<T>& to = *std::exchange(of_, nullptr);
    to.lock();
    to.end_promise_of_room();
    to.unlock_and_release();
  }

private:
  friend class channel_sender;
  friend class reserve_wait;
  explicit permit(channel_state<T>& of) noexcept : of_(&of) {}

  channel_state<T>* of_ = nullptr;
};

/// See send().
template <typename T>
class channel_sender<T>::send_wait final : public room_wait {
public:
  send_wait(channel_state<T>& to, T&& message) noexcept
      : room_wait(to), message_(std::move(message)) {}
  ~send_wait() { give_back_unless_taken(); }

  // At once: nothing can come between this and await_resume(), so the message is put in here.
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    channel_state<T>& to = state();
    if (!to.try_lock()) [[unlikely]]
      return lock_and_send(frame);
    if (!to.has_room() || !frame.promise().context->spend_from_turn()) [[unlikely]]
      return send_or_wait(frame);
    return send_at_once(to);
  }

  send_result<T> await_resume() noexcept {
    if (!sent_) put_promised();
    if (sent_) return {};
    return {send_result<T>::reason::closed, std::move(message_)};
  }

private:
  channel_state<T>& state() const noexcept { return static_cast<channel_state<T>&>(core()); }

  // True if it has to wait. Apart, so that the usual way calls nothing.
  [[gnu::noinline]] bool lock_and_send(frame_handle self) noexcept {
    state().lock();
    return send_or_wait(self);
  }
  [[gnu::noinline]] bool send_or_wait(frame_handle self) noexcept {
    if (state().has_room() && self.promise().context->spend_budget()) return send_at_once(state());
    wait(self);
    return true;
  }
  bool send_at_once(channel_state<T>& to) noexcept {
    to.put(std::move(message_));
    sent_ = true;
    to.unlock_after_move();
    return false;
  }

  // Apart likewise.
  [[gnu::noinline]] void put_promised() noexcept {
    take();
    channel_state<T>& to = state();
    to.lock();
    if (has_promise()) {
      to.end_promise_of_room();
      sent_ = to.has_receivers();
      if (sent_) to.put(std::move(message_));
    }
    to.unlock_and_release();
  }

  bool sent_ = false;
  T message_;
};

/// See reserve().
template <typename T>
class channel_sender<T>::reserve_wait final : public room_wait {
public:
  explicit reserve_wait(channel_state<T>& at) noexcept : room_wait(at) {}
  ~reserve_wait() { give_back_unless_taken(); }

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    core().lock();
    if (core().has_room() && frame.promise().context->spend_budget()) {
      core().promise_room(*this);
      core().unlock();
      return false;
    }
    wait(frame);
    return true;
  }

  permit await_resume() noexcept {
    take();
    if (has_promise()) return permit(static_cast<channel_state<T>&>(core()));
    core().lock();
    core().unlock_and_release();
    return permit();
  }
};

template <typename T>
send_result<T> channel_sender<T>::try_send(T message) const noexcept {
  using reason = typename send_result<T>::reason;
  channel_state<T>& to = this->state();
  to.lock();
  if (to.has_room()) {
    to.put(std::move(message));
    to.unlock_after_move();
    return {};
  }
  const reason why = to.is_closed() ? reason::closed : reason::full;
  to.unlock();
  return {why, std::move(message)};
}

template <typename T>
typename channel_sender<T>::permit channel_sender<T>::try_reserve() const noexcept {
  channel_state<T>& at = this->state();
  const bool room = [&at] {
    at.lock();
    const bool found = at.has_room();
    if (found) at.promise_room();
    at.unlock();
    return found;
  }();
  return room ? permit(at) : permit();
}

}  // namespace skua::inline SKUA_ABI
