// skua/coro/leaf_word.hpp: one atomic word that decides between waiting, completion and stop.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/leaf.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Exactly one party schedules a context after each wait, and never while its source is still live.
///
/// Parties: the *runner* (the thread that runs the context), the *completer* (whoever the leaf's
/// source calls back on) and the *canceller* (whoever asks the context to stop; only the first does
/// anything). The runner arms a leaf while `running` and publishes `suspended` after its frames
/// have let go of the stack. Besides, an *inspector* may look at the frames of a chain that waits:
/// it makes completer and canceller leave their work to it for the moment.
///
/// States:
///   running     the runner has it, or it is queued to run. Nobody else touches the frames.
///   fired       completed before the runner published: the runner goes on without parking.
///   suspended   parked; a completer or a canceller may claim it.
///   cancelling  a canceller is inside leaf::cancel(); the leaf cannot go away.
///   completed   ... and the completion came meanwhile: the canceller schedules.
///   pending     leaf::cancel() left it to the source: the completer schedules.
///   inspected   as suspended, but an inspector looks; neither frames nor leaf can go away.
///   overtaken   ... and the completion came meanwhile: the inspector schedules.
/// Beside the state: stop (asked to stop; never taken back), shielded (hides stop), watched (a stop
/// token is to be told), unwind (the last wait was ended by the stop), and the number of the wait,
/// by which a completer that comes too late knows that it does.
template <typename Atomics>
class leaf_word {
public:
  enum class publication : unsigned char { parked, ready, cancel };
  /// What an inspector is to do after it has looked.
  enum class let_go_answer : unsigned char {
    parked,    ///< Nothing. The chain waits on.
    schedule,  ///< Schedule the context: the wait was completed meanwhile.
    cancel,    ///< Cancel for the canceller that came meanwhile: leaf::cancel(), then settle().
  };
  struct stop_answer {
    bool first;   ///< This call set the stop.
    bool cancel;  ///< The caller is the canceller: call leaf::cancel(), then settle().
    bool tell;    ///< The caller tells the stop token's source.
  };

  /// Runner: the number of the wait to come.
  [[nodiscard]] std::uint32_t wait_number() const noexcept {
    // order: none; only parties that hand the context to the runner change the number.
    return number_of(word_.load(std::memory_order_relaxed));
  }

  /// Any thread: was a stop asked for that is not hidden by a shield?
  [[nodiscard]] bool stop_visible() const noexcept {
    // order: [leaf.stop] acquire: what the canceller wrote before it asked.
    return is_stop_visible(word_.load(std::memory_order_acquire));
  }

  /// Runner, after its frames have returned: gives the context up, unless it is to go on at once.
  [[nodiscard]] publication publish() noexcept {
    // order: none; the exchange below orders what is read through the word.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = with_state(seen, suspended);
      publication answer = publication::parked;
      if ((seen & (state_mask | stop)) != running) [[unlikely]] {
        if (state_of(seen) == fired) {
          next = next_wait(seen);
          answer = publication::ready;
        } else {
          check(state_of(seen) == running, "only the runner publishes, and once per wait");
          answer = is_stop_visible(seen) ? publication::cancel : publication::parked;
          next = with_state(seen, is_stop_visible(seen) ? cancelling : suspended);
        }
      }
      // order: [leaf.suspend] release: frames and leaf, to the completer or canceller that claims
      //        them. [leaf.result] acquire: the result behind `fired`. [leaf.stop] acquire
      //        likewise.
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        return answer;
    }
  }

  /// Completer: true if the caller is to schedule the context. `cancelled`: the source was
  /// cancelled. A completion of an earlier wait changes nothing.
  [[nodiscard]] bool complete(std::uint32_t wait, bool cancelled) noexcept {
    // order: none; the exchange below orders.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (number_of(seen) != wait) return false;
      std::uint64_t next = next_wait(seen);
      bool schedules = true;
      if (state_of(seen) != suspended || cancelled) [[unlikely]] {
        const std::uint64_t ended = cancelled && is_stop_visible(seen) ? seen | unwind : seen;
        schedules = state_of(seen) == suspended || state_of(seen) == pending;
        check(schedules || !is_completed(seen), "a wait is completed once");
        next = schedules ? next_wait(ended) : mark_completed(ended);
      }
      // order: [leaf.result] release: the result, to the runner (fired), canceller (completed) or
      //        inspector (overtaken). [leaf.suspend] acquire: the frames, which travel on with
      //        schedule().
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        return schedules;
    }
  }

  /// Canceller: asks to stop, from any thread. While an inspector looks it leaves the rest to it.
  [[nodiscard]] stop_answer request_stop() noexcept {
    // order: none; the exchange below orders.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & stop) != 0) return stop_answer(false, false, false);
      const bool hidden = (seen & shielded) != 0;
      const bool claims = !hidden && state_of(seen) == suspended;
      const std::uint64_t next = claims ? with_state(seen, cancelling) | stop : seen | stop;
      // order: [leaf.stop] release: what led to the stop, to the stopped task.
      //        [leaf.suspend] acquire: the leaf whose cancel() is called.
      //        [leaf.watch] acquire: the stop token's source.
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        return stop_answer(true, claims, !hidden && (seen & watched) != 0);
    }
  }

  /// Inspector, any thread that keeps the context alive: holds a chain that waits where it is.
  /// False if it does not wait, is being cancelled, or is held by another. After true the frames
  /// and the leaf may be read until let_go(), but not what the source writes.
  [[nodiscard]] bool hold_still() noexcept {
    // order: none; the exchange below orders.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (state_of(seen) == suspended) {
      // order: [leaf.suspend] acquire: the frames.
      if (word_.compare_exchange_weak(seen, with_state(seen, inspected), std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// Inspector: has looked, and does what came up meanwhile.
  [[nodiscard]] let_go_answer let_go() noexcept {
    // order: none; the exchange below orders.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = 0;
      let_go_answer answer = let_go_answer::schedule;
      if (state_of(seen) == overtaken) {
        next = next_wait(seen);
      } else {
        check(state_of(seen) == inspected, "only the inspector lets go");
        // A stop that is visible came meanwhile: it would have cancelled a suspended chain.
        const bool stopped = is_stop_visible(seen);
        answer = stopped ? let_go_answer::cancel : let_go_answer::parked;
        next = with_state(seen, stopped ? cancelling : suspended);
      }
      // order: [leaf.suspend] release: passes the frames on, when they have been read.
      //        [leaf.result] acquire: the result behind `overtaken`. [leaf.stop] acquire likewise.
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        return answer;
    }
  }

  /// Canceller, or who cancels for it, with what leaf::cancel() answered: true if the caller is to
  /// schedule the context.
  [[nodiscard]] bool settle(cancel_answer answer) noexcept {
    // order: none; the exchange below orders.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = 0;
      bool schedules = true;
      if (state_of(seen) == completed) {
        check(answer == cancel_answer::pending, "a source that let go does not complete");
        next = next_wait(seen);
      } else if (answer == cancel_answer::detached) {
        check(state_of(seen) == cancelling, "only the canceller settles");
        next = next_wait(seen | unwind);
      } else {
        check(state_of(seen) == cancelling, "only the canceller settles");
        next = with_state(seen, pending);
        schedules = false;
      }
      // order: [leaf.result] acquire: the result behind `completed`. [leaf.suspend] release: passes
      //        the frames on to the completer that finds `pending`.
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        return schedules;
    }
  }

  /// Runner: was the last wait ended by the stop? Forgets it.
  [[nodiscard]] bool take_unwind() noexcept {
    // order: none; the context came to the runner through a queue, or through publish().
    if ((word_.load(std::memory_order_relaxed) & unwind) == 0) return false;
    // order: none; only the runner cares for this bit now.
    word_.fetch_and(~unwind, std::memory_order_relaxed);
    return true;
  }

  /// Runner: hides the stop from now on, or no longer. Returns true if a stop became visible that
  /// the stop token's source has to be told.
  [[nodiscard]] bool set_shield(bool on) noexcept {
    // order: [leaf.stop] acquire: a stop that was hidden until now.
    if (on) {
      word_.fetch_or(shielded, std::memory_order_acquire);
      return false;
    }
    // order: [leaf.stop] acquire: see above.
    const std::uint64_t before = word_.fetch_and(~shielded, std::memory_order_acquire);
    return (before & stop) != 0 && (before & watched) != 0;
  }

  /// Runner: a stop token now watches. Returns true if a stop is already visible.
  [[nodiscard]] bool set_watched() noexcept {
    // order: [leaf.watch] release: the token's source, to the canceller that tells it.
    //        [leaf.stop] acquire: a stop that came first.
    return is_stop_visible(word_.fetch_or(watched, std::memory_order_acq_rel));
  }

  /// The owner of a context that has ended: nothing waits and nobody cancels.
  [[nodiscard]] bool at_rest() const noexcept {
    // order: none; whoever may destroy the context has been told of its end by other means.
    return state_of(word_.load(std::memory_order_relaxed)) == running;
  }

  /// The owner of a context at rest whose memory is used for another chain: as new, except that the
  /// numbers of waits go on. So a completer of the former chain, which may look at any time, still
  /// finds that it is late.
  void reset() noexcept {
    // order: none; nobody else changes a word at rest.
    const std::uint64_t seen = word_.load(std::memory_order_relaxed);
    check(state_of(seen) == running, "a context is used again at rest");
    // order: none; a late reader wants the number only.
    word_.store(next_wait(seen) & ~beside_number, std::memory_order_relaxed);
  }

private:
  /// A state in which a completer leaves the scheduling to another is even, and the next one says
  /// that it came: one addition for all of them.
  enum state : std::uint64_t {
    running,
    fired,
    suspended,
    pending,
    cancelling,
    completed,
    inspected,
    overtaken,
  };
  static constexpr std::uint64_t state_mask = 7;
  static constexpr std::uint64_t stop = 1U << 3;
  static constexpr std::uint64_t shielded = 1U << 4;
  static constexpr std::uint64_t watched = 1U << 5;
  static constexpr std::uint64_t unwind = 1U << 6;
  static constexpr unsigned number_shift = 32;
  static constexpr std::uint64_t beside_number = (std::uint64_t{1} << number_shift) - 1;

  static state state_of(std::uint64_t word) noexcept { return state(word & state_mask); }
  /// These two not for `suspended` and `pending`, in which the completer schedules.
  static bool is_completed(std::uint64_t word) noexcept { return (word & 1) != 0; }
  static std::uint64_t mark_completed(std::uint64_t word) noexcept { return word + 1; }
  static std::uint64_t with_state(std::uint64_t word, state now) noexcept {
    return (word & ~state_mask) | now;
  }
  /// The wait is over: running again, and a late completer no longer matches.
  static std::uint64_t next_wait(std::uint64_t word) noexcept {
    return with_state(word, running) + (std::uint64_t{1} << number_shift);
  }
  static std::uint32_t number_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> number_shift);
  }
  static bool is_stop_visible(std::uint64_t word) noexcept {
    return (word & (stop | shielded)) == stop;
  }

  typename Atomics::template atomic<std::uint64_t> word_{0};
};

}  // namespace skua::inline SKUA_ABI
