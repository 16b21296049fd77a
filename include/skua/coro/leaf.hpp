// skua/coro/leaf.hpp: the public base of everything a task can wait for and be stopped in.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/promise_base.hpp"

#include <coroutine>
#include <cstdint>

namespace skua::inline SKUA_ABI {

class context;

/// What a leaf answers to a request to give up waiting.
enum class cancel_answer : unsigned char {
  detached,  ///< The source has let go: it will not complete this wait any more.
  pending,   ///< The source still holds it, and will complete it, soon or in time.
};

/// The right to complete one wait, and no other: a copyable value for sources that may call late,
/// after the wait has ended, when the same leaf may wait again or another may lie at its address. A
/// late call changes nothing. The context must still be alive then: that of a spawned task is until
/// its runtime ends, that of a branch (of when_all() and its kin) only as long as the combinator.
class wait_ticket {
public:
  /// As leaf::complete(), for this wait; nothing if that has ended.
  [[gnu::visibility("default")]] void complete() const noexcept;
  /// As leaf::complete_cancelled(), likewise.
  [[gnu::visibility("default")]] void complete_cancelled() const noexcept;

private:
  friend class leaf;
  wait_ticket(context* whose, std::uint32_t number) noexcept : whose_(whose), number_(number) {}

  context* whose_;
  std::uint32_t number_;
};

/// An awaiter at the end of an await chain. Derive from it to let tasks wait for a source of your
/// own: a timer, a queue, a callback, a thread.
///
///   class my_wait final : public skua::leaf {
///   public:
///     int await_resume() { ... }                         // takes the result; runs in the task
///   private:
///     void start() noexcept override;                    // arm the source
///     skua::cancel_answer cancel() noexcept override;    // ask the source to let go
///   };
///
/// The life of one wait:
///   1. await_ready(): hide this one to finish without suspending.
///   2. start(), on the task's thread. The source may complete the wait from any thread at once,
///   even
///      inside start(); the task is resumed only after start() has returned. Not called, and the
///      task unwound, if it had been asked to stop before.
///   3. The source calls complete() or complete_cancelled(), exactly once, unless cancel() answered
///      `detached`. It must not touch the leaf afterwards: it may be gone. A source that cannot
///      keep to that takes a ticket() in start() and calls that.
///   4. cancel(), at most once, on the thread that asks the task to stop (or the task's own, if the
///      request came while start() ran). The leaf stays alive until it has returned. A source with
///      a lock of its own decides under it who was first: if complete() is on its way, the answer
///      is `pending`.
///   5. await_resume(), on the task's executor, unless the wait ended by the stop: then the task is
///      unwound from here, and the leaf destroyed without it.
///
/// A value beats a stop: complete() after a stop request still gives the value, and the task stops
/// at its next leaf. The same holds for a branch that has lost a race, except for leaves that give
/// back what they got.
class leaf {
public:
  using skua_awaiter_tag = void;

  leaf(const leaf&) = delete;
  leaf& operator=(const leaf&) = delete;

  bool await_ready() const noexcept { return false; }

  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (arm(to_frame(self))) start();
  }

  /// The wait is over; the task will be resumed. From any thread.
  void complete() noexcept { ticket().complete(); }

  /// The wait was ended by a cancellation of the source. If the task was asked to stop, this is the
  /// answer and it unwinds; if not, somebody else cancelled and it is resumed. From any thread.
  void complete_cancelled() noexcept { ticket().complete_cancelled(); }

  /// For the wait that is under way. From start() on.
  [[nodiscard]] wait_ticket ticket() const noexcept {
    check(waiting_ != nullptr, "a leaf is completed only after it was awaited");
    return wait_ticket(waiting_, wait_number_);
  }

protected:
  leaf() = default;
  ~leaf() = default;

  /// For leaves that hide await_suspend() because what they wait for must have ended before their
  /// task unwinds: waits although the task is to stop. cancel() is called then, in each such wait.
  [[gnu::visibility("default")]] void arm_in_spite_of_stop(frame_handle self) noexcept;

  /// For leaves that hide await_suspend() because they are often ready at once: what comes before
  /// start(). False if the task is to stop instead; await_suspend() then returns.
  [[gnu::visibility("default")]] bool arm(frame_handle self) noexcept;

  /// Likewise, if the task has used up its turn and this is something that it should not hold while
  /// others have theirs: gives way, and then start() is called, at the beginning of its next turn.
  [[gnu::visibility("default")]] void postpone(frame_handle self) noexcept;

private:
  friend class context;

  virtual void start() noexcept = 0;
  virtual cancel_answer cancel() noexcept = 0;
  /// True of leaves that can give back what they got, and do so in their destructor if it was not
  /// taken by await_resume(): a place in line, a message. If their task is a branch that has lost a
  /// race, it is unwound from here instead of resumed with something that nobody wants.
  [[nodiscard]] virtual bool gives_back() const noexcept { return false; }

  context* waiting_ = nullptr;
  std::uint32_t wait_number_ = 0;
};

}  // namespace skua::inline SKUA_ABI
