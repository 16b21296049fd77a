// skua/sync/channel_receiver.hpp: the receiving end of mpsc and mpmc channels.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/blocking.hpp"
#include "skua/sync/channel_end.hpp"
#include "skua/sync/channel_state.hpp"

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Takes messages out, in the order in which they went in. When the last receiver is gone what is
/// inside is destroyed, and senders are told. One owner; mpmc's can be copied. Moved from: it may
/// be assigned to or destroyed.
///
/// Cancellation loses nothing: a message leaves the channel only when the task that waited for it
/// goes on. In `race(rx.receive(), sleep(1s))` it stays inside if the sleep wins.
template <typename T>
class channel_receiver {
public:
  class receive_wait;
  template <typename Container>
  class receive_many_wait;

  /// Use channel().
  explicit channel_receiver(channel_state<T>& of) noexcept : end_(of) {}
  /// `from` can only be assigned to or destroyed.
  channel_receiver(channel_receiver&& from) noexcept = default;
  /// The channel that it was of loses a receiver.
  channel_receiver& operator=(channel_receiver&& from) noexcept = default;
  ~channel_receiver() = default;

  /// `while (auto job = co_await rx.receive()) ...` gives a std::optional<T>, empty at the end: the
  /// senders are gone or the channel was closed, and everything that was sent has been received. If
  /// nothing is there it waits in line, first come, first served. Once something is there it counts
  /// against the task's turn. The receiver must be there when the wait begins.
  [[nodiscard]] receive_wait receive() const noexcept { return receive_wait(state()); }

  /// At once; empty if nothing is there, or not any more: see is_over().
  [[nodiscard]] std::optional<T> try_receive() const noexcept;

  /// `co_await rx.receive_many(jobs, 100)`: waits for one message, and appends what is there, at
  /// most `most`, to a std::vector or the like. Gives how many: 0 is the end, or `most` was 0.
  /// Throws what the container throws when it grows; nothing is lost then.
  template <typename Container>
  [[nodiscard]] receive_many_wait<Container> receive_many(Container& to,
                                                          std::size_t most) const noexcept {
    return receive_many_wait<Container>(state(), to, most);
  }

  /// receive() for threads that may block. Throws std::logic_error on a worker of a runtime.
  std::optional<T> blocking_receive() const {
    return block_thread_for("blocking_receive", receive());
  }

  /// Messages are refused from now on. What is inside can still be received, and what those send
  /// who have a permit or were promised room.
  void close() const noexcept { state().close(); }
  /// Messages are refused: this or another receiver has closed it. See is_over() for the end.
  [[nodiscard]] bool is_closed() const noexcept { return state().is_closed_now(); }
  /// Nothing is inside, and nothing will be: receive() gives nothing. It stays so.
  [[nodiscard]] bool is_over() const noexcept { return state().is_over_now(); }
  /// How many messages are inside; may be out of date.
  [[nodiscard]] std::size_t size() const noexcept { return state().count_now(); }
  /// Nothing is inside; may be out of date.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

protected:
  /// For receivers that can be copied.
  channel_receiver(const channel_receiver& from) noexcept = default;
  /// For receivers of other kinds.
  [[nodiscard]] channel_state<T>& state() const noexcept { return end_.get(); }

private:
  channel_end<channel_state<T>, &channel_core::drop_receiver, &channel_core::add_receiver> end_;
};

/// See receive().
template <typename T>
class channel_receiver<T>::receive_wait final : public message_wait {
public:
  explicit receive_wait(channel_state<T>& from) noexcept : message_wait(from) {}
  ~receive_wait() { give_back_unless_taken(); }

  // At once: nothing can come between this and await_resume(), so the message is taken here.
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    channel_state<T>& from = state();
    if (!from.try_lock()) [[unlikely]]
      return lock_and_receive(frame);
    if (!from.has_message() || !from.has_oldest() || !frame.promise().context->spend_from_turn())
        [[unlikely]]
      return receive_or_wait(frame);
    take_one(from);
    from.unlock_after_move();
    return false;
  }

  std::optional<T> await_resume() noexcept {
    if (is_granted()) take_promised();
    return std::move(message_);
  }

private:
  channel_state<T>& state() const noexcept { return static_cast<channel_state<T>&>(core()); }

  // True if it has to wait. Apart, so that the usual way calls nothing.
  [[gnu::noinline]] bool lock_and_receive(frame_handle self) noexcept {
    state().lock();
    return receive_or_wait(self);
  }
  [[gnu::noinline]] bool receive_or_wait(frame_handle self) noexcept {
    channel_state<T>& from = state();
    if (from.find_message() && self.promise().context->spend_budget()) {
      from.find_oldest();
      take_one(from);
      from.unlock_after_move();
      return false;
    }
    wait(self);
    return true;
  }

  void take_one(channel_state<T>& from) noexcept {
    from.take([this](T&& one) { message_.emplace(std::move(one)); });
  }
  // Apart likewise.
  [[gnu::noinline]] void take_promised() noexcept {
    take();
    message_.reset();
    channel_state<T>& from = state();
    from.lock();
    if (has_promise()) {
      from.end_promise_of_messages(1);
      if (from.stored() > 0) {
        from.find_oldest();
        take_one(from);
      }
    }
    from.unlock_and_release();
  }

  std::optional<T> message_;
};

/// See receive_many().
template <typename T>
template <typename Container>
class channel_receiver<T>::receive_many_wait final : public message_wait {
public:
  receive_many_wait(channel_state<T>& from, Container& to, std::size_t most) noexcept
      : message_wait(from), from_(from), to_(to), most_(most) {}
  ~receive_many_wait() { this->give_back_unless_taken(); }

  [[nodiscard]] bool await_ready() const noexcept { return most_ == 0; }

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    from_.lock();
    if (from_.find_message() && frame.promise().context->spend_budget()) {
      from_.promise_message(*this);
      from_.unlock();
      return false;
    }
    wait(frame);
    return true;
  }

  std::size_t await_resume() {
    if (most_ == 0) return 0;
    const promises all(*this);
    make_room(all.count());
    return move_out(all.count());
  }

private:
  /// As many as there are, and at most as many as are wanted. They end with this, used or not.
  class promises {
  public:
    explicit promises(receive_many_wait& of) noexcept : from_(of.from_) {
      of.take();
      if (!of.has_promise()) return;
      from_.lock();
      const std::size_t more = from_.find_messages();
      count_ = more < of.most_ ? 1 + more : of.most_;
      from_.promise_more(count_ - 1);
      from_.unlock();
    }
    promises(const promises&) = delete;
    promises& operator=(const promises&) = delete;
    ~promises() {
      from_.lock();
      from_.end_promise_of_messages(count_);
      from_.unlock_and_release();
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  private:
    channel_state<T>& from_;
    std::size_t count_ = 0;
  };

  // So that nothing can throw under the lock. Not by as much as is needed each time.
  void make_room(std::size_t count) {
    const std::size_t needed = to_.size() + count;
    const std::size_t twice = to_.capacity() * 2;
    if (to_.capacity() < needed) to_.reserve(needed < twice ? twice : needed);
  }

  // Fewer than promised only if the last receiver is gone.
  std::size_t move_out(std::size_t count) noexcept {
    std::size_t moved = 0;
    while (moved < count) {
      const std::size_t before = moved;
      const std::size_t until = count - moved > at_a_time ? moved + at_a_time : count;
      from_.lock();
      for (; moved < until && from_.stored() > 0; ++moved) {
        from_.find_oldest();
        from_.take([this](T&& one) { to_.push_back(std::move(one)); });
      }
      from_.unlock_after_move();
      if (moved == before) break;
    }
    return moved;
  }

  static constexpr std::size_t at_a_time = 32;  // under one lock

  channel_state<T>& from_;
  Container& to_;
  const std::size_t most_;
};

template <typename T>
std::optional<T> channel_receiver<T>::try_receive() const noexcept {
  channel_state<T>& from = state();
  std::optional<T> message;
  from.lock();
  if (from.find_message()) {
    from.find_oldest();
    from.take([&message](T&& one) { message.emplace(std::move(one)); });
    from.unlock_after_move();
  } else {
    from.unlock();
  }
  return message;
}

}  // namespace skua::inline SKUA_ABI
