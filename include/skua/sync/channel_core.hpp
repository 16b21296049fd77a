// skua/sync/channel_core.hpp: who waits at a channel, for what, and what was promised to whom.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/short_lock.hpp"
#include "skua/sync/wait_line.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

class channel_wait;

/// The part of a channel that does not depend on the type of its messages. Shared by all handles,
/// and freed with the last of them, when nobody waits or holds a promise any more.
///
/// A wake is a promise: of a message to who receives, of room for one to who sends. What is
/// promised to one cannot be taken by another. The message itself moves only when the task goes on:
/// out of the channel to a receiver, into the channel from a sender. A task that is unwound instead
/// takes nothing along; its promise goes to the next in line.
///
/// So somebody is in line for messages only while all that are inside are promised, and for room
/// only while there is none.
///
/// Who sends without a limit has nothing to ask: such messages arrive under a lock of their own,
/// and count here when somebody looks for one. So senders and receivers hardly ever meet. To who is
/// in line for a message that arrives its sender comes in and serves.
class [[gnu::visibility("default")]] channel_core {
public:
  enum class kind : unsigned char {
    bounded,     ///< as many messages as it has places
    rendezvous,  ///< one place, and only while somebody waits to receive
    unbounded,
  };

  /// Unbounded: messages that were sent, and do not count as stored yet. All under its lock, which
  /// may be taken while that of the channel is held, and not the other way round.
  struct arrivals {
    short_lock lock;
    bool closed = false;
    bool awaited = false;  // somebody is in line: who puts one in comes and serves
    std::size_t count = 0;
  };

  channel_core(kind how, std::size_t places) noexcept
      : how_(how), places_(places), limit_(how == kind::rendezvous ? 0 : places) {}
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;

  // Handles. A channel starts with one sender and one receiver.

  void add_sender() noexcept;
  void add_receiver() noexcept;
  void drop_sender() noexcept;
  /// The last one closes it, and destroys what is inside.
  void drop_receiver() noexcept;

  /// Nothing more goes in, except by those who have been promised room.
  void close() noexcept;

  // For a look; out of date at once.

  [[nodiscard]] bool is_closed_now() noexcept;
  [[nodiscard]] bool is_over_now() noexcept;
  [[nodiscard]] std::size_t count_now() noexcept;
  /// 0 for a rendezvous.
  [[nodiscard]] std::size_t capacity() const noexcept {
    return how_ == kind::rendezvous ? 0 : places_;
  }

  // What follows is for awaiters and handles.

  void lock() noexcept { receiving_.lock().lock(); }
  [[nodiscard]] bool try_lock() noexcept { return receiving_.lock().try_lock(); }
  void unlock() noexcept { receiving_.lock().unlock(); }

  // Under the lock.

  /// One that is promised to nobody.
  [[nodiscard]] bool has_message() const noexcept { return stored_ > promised_; }
  /// The same, after a look at what has arrived. That is for those in line first.
  [[nodiscard]] bool find_message() noexcept {
    return has_message() || (arrivals_ != nullptr && receiving_.empty() && count_arrivals());
  }
  /// How many there are, likewise.
  [[nodiscard]] std::size_t find_messages() noexcept {
    if (arrivals_ != nullptr && receiving_.empty()) count_arrivals();
    return unpromised();
  }
  [[nodiscard]] std::size_t unpromised() const noexcept {
    return has_message() ? stored_ - promised_ : 0;
  }
  /// Room that is promised to nobody.
  [[nodiscard]] bool has_room() const noexcept { return stored_ + reserved_ < limit_; }
  /// Nothing goes in any more, except by those who were promised room.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  /// Nothing is inside, and nothing will be.
  [[nodiscard]] bool is_over() const noexcept {
    return stored_ == 0 && (closed_ || senders_ == 0) && reserved_ == 0 && sending_.empty() &&
           (arrivals_ == nullptr || arrivals_->count == 0);  // which nobody changes any more
  }
  [[nodiscard]] bool has_receivers() const noexcept { return receivers_ > 0; }
  [[nodiscard]] std::size_t stored() const noexcept { return stored_; }

  void promise_message(channel_wait& to) noexcept;
  void promise_more(std::size_t messages) noexcept { promised_ += messages; }
  void promise_room(channel_wait& to) noexcept;
  /// For a permit, which is a reference of its own.
  void promise_room() noexcept;
  /// Kept, or given back.
  void end_promise_of_messages(std::size_t count) noexcept { promised_ -= count; }
  void end_promise_of_room() noexcept { --reserved_; }

  /// A waiter joins, and is a reference until it ends its wait.
  enum class line : unsigned char { receiving, sending, watching };
  void join(line which, channel_wait& who) noexcept;
  [[nodiscard]] bool leave(channel_wait& who) noexcept;

  // Gives back the lock.

  /// Grants to those in line what there is now. Then this may be gone.
  void unlock_and_serve() noexcept;
  /// The same for one who has just joined, because there was nothing for it: unless it is over or
  /// closed, or one who sends may have waited for one who receives, there is nothing now.
  void unlock_in_line() noexcept;
  /// The same for one who lets go of its reference.
  void unlock_and_release() noexcept;

protected:
  virtual ~channel_core() = default;

  /// Unbounded: before it is used. `in` is a part of it.
  void arrive_in(arrivals& in) noexcept { arrivals_ = &in; }

  // Under the lock, by what knows the messages.
  void added_one() noexcept { ++stored_; }
  void took_one() noexcept { --stored_; }
  /// It takes more than unlock() to let go of the lock after a message has moved.
  [[nodiscard]] bool needs_care() const noexcept { return care_ != 0; }
  void note_unused_memory() noexcept { care_ |= unused_memory; }
  void forget_unused_memory() noexcept { care_ &= somebody_waits; }

private:
  /// All of them, outside the lock. It is called once, and nothing is put in or taken afterwards.
  virtual void destroy_messages() noexcept = 0;

  void refuse() noexcept;
  bool count_arrivals() noexcept;
  [[nodiscard]] bool await_arrivals() noexcept;
  void update_limit() noexcept;
  waiter* serve_arrivals(wait_line::granted& to) noexcept;
  waiter* serve(wait_line::granted& to) noexcept;
  waiter* serve_one() noexcept;
  void serve_all(wait_line::granted& to) noexcept;

  // One number, so that who moves a message has one question.
  static constexpr unsigned char somebody_waits = 1;  // in line for messages or for room
  static constexpr unsigned char unused_memory = 2;

  // All under the lock of `receiving_`.
  wait_line receiving_;
  wait_line sending_;
  wait_line watching_;  // until it is closed
  const kind how_;
  bool closed_ = false;
  unsigned char care_ = 0;
  const std::size_t places_;
  std::size_t limit_;  // places; 0 if it is closed, or a rendezvous to which nobody came
  std::size_t stored_ = 0;
  std::size_t promised_ = 0;  // of those; more than those once the receivers are gone
  std::size_t reserved_ = 0;  // places, besides those
  std::size_t senders_ = 1;
  std::size_t receivers_ = 1;
  std::size_t references_ = 2;    // handles, permits, and waits that wait or hold a promise
  arrivals* arrivals_ = nullptr;  // always, unless it is unbounded
};

/// Every wait at a channel. Keeps the channel alive while it waits or holds a promise; the handle
/// it was made by must be alive when it begins.
class [[gnu::visibility("default")]] channel_wait : public waiter {
protected:
  explicit channel_wait(channel_core& at) noexcept : core_(at) {}
  ~channel_wait() = default;

  /// What it was granted, if anything: false means that there is none, and will be none.
  [[nodiscard]] bool has_promise() const noexcept { return promised_; }
  [[nodiscard]] channel_core& core() const noexcept { return core_; }
  cancel_answer cancel() noexcept final;

private:
  friend class channel_core;
  channel_core& core_;
  bool promised_ = false;  // under the lock while in line
};

/// For a message.
class [[gnu::visibility("default")]] message_wait : public channel_wait {
protected:
  using channel_wait::channel_wait;
  ~message_wait() = default;
  /// In the destructor of a final class, where no virtual function is set back.
  void give_back_unless_taken() noexcept {
    if (is_granted()) [[unlikely]]
      give_back();
  }
  /// In await_suspend(), under the lock, which it gives back: there is no message, or the task has
  /// used up its turn.
  void wait(frame_handle self) noexcept;

private:
  void start() noexcept final;
  void give_back() noexcept;
};

/// For room for a message.
class [[gnu::visibility("default")]] room_wait : public channel_wait {
protected:
  using channel_wait::channel_wait;
  ~room_wait() = default;
  /// In the destructor of a final class, where no virtual function is set back.
  void give_back_unless_taken() noexcept {
    if (is_granted()) [[unlikely]]
      give_back();
  }
  /// In await_suspend(), under the lock, which it gives back: there is no room, or the task has
  /// used up its turn.
  void wait(frame_handle self) noexcept;

private:
  void start() noexcept final;
  void give_back() noexcept;
};

/// Until the channel is closed.
class [[gnu::visibility("default")]] closed_wait final : public channel_wait {
public:
  explicit closed_wait(channel_core& at) noexcept : channel_wait(at) {}
  ~closed_wait() {
    if (is_granted()) end();
  }
  void await_resume() noexcept {
    take();
    end();
  }

private:
  void start() noexcept override;
  void end() noexcept;
};

}  // namespace skua::inline SKUA_ABI
