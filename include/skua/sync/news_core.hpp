// skua/sync/news_core.hpp: who waits for news at a oneshot, watch or broadcast, and who is there.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/wait_line.hpp"

#include <atomic>
#include <cstddef>

namespace skua::inline SKUA_ABI {

/// The part that does not depend on the type of the messages. Shared by all handles, and freed with
/// the last of them, when nobody waits any more.
///
/// News are for everybody: all who wait are woken, and look for themselves when they go on. So
/// there is nothing to give back if one of them is unwound instead.
class [[gnu::visibility("default")]] news_core {
public:
  news_core() = default;
  news_core(const news_core&) = delete;
  news_core& operator=(const news_core&) = delete;

  // Handles. It starts with one sender and one receiver.

  void add_sender() noexcept;
  void add_receiver_now() noexcept;
  void drop_sender() noexcept;
  void drop_receiver() noexcept;
  [[nodiscard]] bool is_closed_now() noexcept;
  [[nodiscard]] bool has_senders_now() noexcept;

  // What follows is for awaiters and handles.

  void lock() noexcept { receiving_.lock().lock(); }
  void unlock() noexcept { receiving_.lock().unlock(); }

  // Under the lock.

  [[nodiscard]] bool has_senders() const noexcept { return senders_ > 0; }
  [[nodiscard]] std::size_t receivers() const noexcept { return receivers_; }
  /// Nobody wants to hear more.
  [[nodiscard]] bool is_closed() const noexcept { return closed_ || receivers_ == 0; }
  void close() noexcept { closed_ = true; }
  void add_receiver() noexcept {
    ++receivers_;
    add_reference();
  }

  /// A wait joins or is ready at once. It is a reference until it ends.
  void join_receiving(waiter& who) noexcept;
  void join_watching(waiter& who) noexcept;
  void add_reference() noexcept { set_references(references() + 1); }
  [[nodiscard]] bool leave(waiter& who) noexcept { return receiving_.leave(who); }

  // Gives back the lock.

  /// There are news, or there will be none.
  void unlock_and_tell() noexcept;
  void unlock_and_drop_sender() noexcept;
  void unlock_and_drop_receiver() noexcept;
  /// Lets go of a reference.
  void unlock_and_release() noexcept;

  // Without the lock, by one who has a reference.

  /// Nobody else has one, nor will: all this is the caller's. False: somebody may.
  [[nodiscard]] bool is_alone() const noexcept {
    // order: [news.alone] acquire: that whoever let go of the last other one had the lock then.
    return references_.load(std::memory_order_acquire) == 1 && receiving_.lock().is_free();
  }
  /// Lets go of a reference that is the only one.
  void end() noexcept { delete this; }

protected:
  virtual ~news_core() = default;

private:
  // order: none; it changes under the lock.
  [[nodiscard]] std::size_t references() const noexcept {
    return references_.load(std::memory_order_relaxed);
  }
  void set_references(std::size_t count) noexcept {
    // order: [news.alone] release: that we have the lock, to one who looks without it.
    references_.store(count, std::memory_order_release);
  }
  /// Gives back the lock. It is freed if nobody has a reference any more.
  void unlock_and_end() noexcept;
  /// Gives back the lock. Somebody is in the line.
  void tell_all(wait_line& which) noexcept;

  // All under the lock of `receiving_`, but for is_alone().
  wait_line receiving_;
  wait_line watching_;  // until it is closed
  bool closed_ = false;
  std::size_t senders_ = 1;
  std::size_t receivers_ = 1;
  std::atomic<std::size_t> references_ = 2;  // handles, and waits that wait or have been woken
};

/// For news. Keeps the core while it waits.
class [[gnu::visibility("default")]] news_wait : public waiter {
protected:
  explicit news_wait(news_core& at) noexcept : core_(at) {}
  ~news_wait() {
    if (is_granted()) give_back();
  }

  /// Under the lock: there are news already.
  void ready_at_once() noexcept {
    grant();
    core_.add_reference();
  }
  /// Under the lock, which it gives back.
  void start() noexcept final;

private:
  cancel_answer cancel() noexcept final;
  void give_back() noexcept;
  news_core& core_;
};

/// Until nobody wants to hear more.
class [[gnu::visibility("default")]] nobody_listens_wait final : public waiter {
public:
  explicit nobody_listens_wait(news_core& at) noexcept : core_(at) {}
  ~nobody_listens_wait() {
    if (is_granted()) end();
  }
  void await_resume() noexcept {
    take();
    end();
  }

private:
  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  void end() noexcept;
  news_core& core_;
};

}  // namespace skua::inline SKUA_ABI
