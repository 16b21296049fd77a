// skua/sync/watch.hpp: the latest value, for all who want to know when it changes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/channel_end.hpp"
#include "skua/sync/news_core.hpp"
#include "skua/sync/shared_value.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

/// `auto [tx, rx] = skua::watch::channel<settings>(defaults);` Receivers see the latest value, not
/// every one: what comes between two looks is lost on purpose. Any task, thread or runtime.
namespace skua::inline SKUA_ABI::watch {

/// What all ends share.
template <typename T>
class shared_state final : public news_core {
public:
  explicit shared_state(shared_value<T> first) noexcept : latest(std::move(first)) {}

  [[nodiscard]] shared_value<T> look() noexcept {
    lock();
    shared_value<T> now = latest;
    unlock();
    return now;
  }

  // Under the lock.
  shared_value<T> latest;
  std::uint64_t version = 0;

private:
  ~shared_state() override = default;
};

/// One task or thread at a time uses it; others use copies. A copy has seen what the one it was
/// made of had seen. Moved from: it may be assigned to or destroyed.
template <typename T>
class receiver {
public:
  class changed_wait;

  /// Use channel() or sender::subscribe().
  receiver(shared_state<T>& of, std::uint64_t seen) noexcept : end_(of), seen_(seen) {}

  /// The latest value, as it is now. Whether it counts as seen does not change.
  [[nodiscard]] shared_value<T> borrow() const noexcept { return state().look(); }

  /// The same, and it counts as seen: changed() waits for a later one.
  [[nodiscard]] shared_value<T> borrow_and_mark_seen() noexcept {
    shared_state<T>& from = state();
    from.lock();
    seen_ = from.version;
    shared_value<T> latest = from.latest;
    from.unlock();
    return latest;
  }

  /// There is a value that this receiver has not seen. Never waits.
  [[nodiscard]] bool has_changed() const noexcept {
    shared_state<T>& from = state();
    from.lock();
    const bool differs = from.version != seen_;
    from.unlock();
    return differs;
  }

  /// `while (co_await rx.changed()) use(*rx.borrow());` waits for a value that this receiver has
  /// not seen, and counts it as seen. False if there is none and the senders are gone. The first
  /// value counts as seen by a new receiver. Cancellation loses nothing: what was not seen stays
  /// unseen. The receiver stays where it is while it waits.
  [[nodiscard]] changed_wait changed() noexcept { return changed_wait(state(), seen_); }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &news_core::drop_receiver, &news_core::add_receiver_now> end_;
  std::uint64_t seen_;
};

/// See changed().
template <typename T>
class receiver<T>::changed_wait final : public news_wait {
public:
  changed_wait(shared_state<T>& at, std::uint64_t& seen) noexcept
      : news_wait(at), at_(at), seen_(seen) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const frame_handle frame = to_frame(self);
    at_.lock();
    if (at_.version != seen_ || !at_.has_senders()) {
      ready_at_once();
      at_.unlock();
      return !take_from_budget(frame);
    }
    if (arm(frame))
      start();
    else
      at_.unlock();
    return true;
  }

  bool await_resume() noexcept {
    take();
    at_.lock();
    const bool changed = std::exchange(seen_, at_.version) != at_.version;
    at_.unlock_and_release();
    return changed;
  }

private:
  shared_state<T>& at_;
  std::uint64_t& seen_;
};

/// Copies are senders of the same value; when the last is gone the receivers are told. Moved from:
/// it may be assigned to or destroyed.
template <typename T>
class sender {
public:
  /// Use channel().
  explicit sender(shared_state<T>& of) noexcept : end_(of) {}

  /// A new value for everybody, also for those who come later. Never waits. Allocates it; throws
  /// std::bad_alloc, and nothing has changed then.
  void send(T value) const {
    shared_state<T>& to = state();
    auto latest = shared_value<T>::make(std::move(value));
    to.lock();
    std::swap(to.latest, latest);  // the old one ends outside the lock
    ++to.version;
    to.unlock_and_tell();
  }

  /// The latest value, as it is now.
  [[nodiscard]] shared_value<T> borrow() const noexcept { return state().look(); }

  /// Another receiver, which has seen the latest value.
  [[nodiscard]] receiver<T> subscribe() const noexcept {
    shared_state<T>& at = state();
    at.lock();
    at.add_receiver();
    const std::uint64_t seen = at.version;
    at.unlock();
    return receiver<T>(at, seen);
  }

  /// Whether there is no receiver now; another may subscribe.
  [[nodiscard]] bool is_closed() const noexcept { return state().is_closed_now(); }
  /// `co_await tx.closed();` until there is no receiver.
  [[nodiscard]] nobody_listens_wait closed() const noexcept { return nobody_listens_wait(state()); }

private:
  [[nodiscard]] shared_state<T>& state() const noexcept { return end_.get(); }

  channel_end<shared_state<T>, &news_core::drop_sender, &news_core::add_sender> end_;
};

/// Throws std::bad_alloc.
template <typename T>
[[nodiscard]] std::pair<sender<T>, receiver<T>> channel(T first) {
  auto& shared = *new shared_state<T>(shared_value<T>::make(std::move(first)));
  return {sender<T>(shared), receiver<T>(shared, 0)};
}

}  // namespace skua::inline SKUA_ABI::watch
