// skua/coro/context.hpp: what runs an await chain: one per spawned task or concurrent branch.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/executor.hpp"
#include "skua/base/work.hpp"
#include "skua/coro/await_chain.hpp"
#include "skua/coro/context_base.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/leaf_word.hpp"
#include "skua/coro/promise_base.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

struct stop_watch;

/// How far drive() got.
enum class progress : unsigned char {
  parked,     ///< It waits, or another thread already runs it on. The context may be gone.
  gives_way,  ///< Only of drive_turn(): the caller is to defer it.
  returned,   ///< The root has its result; its frame is the owner's to read and destroy.
  stopped,    ///< It was asked to stop and has unwound; no frame is left.
};

/// The work item behind a chain of awaiting frames. Derive from it to own a chain: the derived
/// type's run function calls drive() and, when that says so, ends what it owns:
///
///   void run(work& item) noexcept {
///     auto& self = static_cast<my_context&>(item);
///     if (const progress p = self.drive(); p != progress::parked) self.finish(p);
///   }
///
/// The context outlives its frames. It dies at rest: after drive() said returned or stopped, or
/// before it was ever scheduled.
class [[gnu::visibility("default")]] context : public work, public context_base {
public:
  context(run_function how, executor& home) noexcept : work(how), home_(&home) {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  /// Takes ownership of `root`, a frame that has not started. Once; schedule() it then.
  void hold(frame_handle root) noexcept;

  /// Makes a context that has ended as good as new, to hold another root, on the same memory:
  /// whoever is late with a completion, or looks on, finds a context still.
  void reuse(executor& home) noexcept;

  /// Runs the frames until they wait, end or have unwound. Only by the run function. A wait that is
  /// over gives its value, even if a stop was asked for meanwhile.
  [[nodiscard]] progress drive() noexcept;
  /// Likewise, but nobody wants what comes of the chain: if a stop was asked for, and the leaf
  /// gives back what it got, it unwinds.
  [[nodiscard]] progress drive_or_unwind() noexcept;

  /// Queues the context on its executor. By whoever made it, to start it; later only leaves do.
  void schedule() noexcept { home_->schedule(*this); }

  /// Asks the chain to stop: it unwinds at the leaf it waits in, or at the next one it comes to.
  /// From any thread that keeps the context alive until this returns. True for the first to ask.
  bool request_stop() noexcept;

  /// True if a stop was asked for and no shield hides it. From any thread.
  [[nodiscard]] bool stop_requested() const noexcept { return word_.stop_visible(); }

  /// The same, or it was asked of what this is a branch of, which passes it on when this gives way.
  /// By the chain itself.
  [[nodiscard]] bool is_to_stop() const noexcept {
    return stop_requested() || (is_branch && task_is_to_stop());
  }

  /// If it waits, writes its await chain to `out`, innermost first, at most `room` frames, and
  /// returns how many there are; 0 if it does not wait. From any thread that keeps the context
  /// alive; a completion that comes meanwhile has to wait for that.
  std::size_t look_at_chain(await_frame* out, std::size_t room) noexcept;

  /// Changes with every wait. By the chain itself.
  [[nodiscard]] std::uint32_t wait_number() const noexcept { return word_.wait_number(); }

  /// Where it is queued.
  [[nodiscard]] executor& home() const noexcept { return *home_; }

  /// The root frame; null after it has unwound.
  [[nodiscard]] frame_handle root() const noexcept { return root_; }

protected:
  ~context();

  /// As drive(), but one that gives way is left to the caller, who may know a shorter way to its
  /// home. Defined in src/coro/drive_turn.hpp.
  [[nodiscard]] inline progress drive_turn() noexcept;

  /// The root frame, now the caller's. After drive() said `returned`.
  [[nodiscard]] frame_handle release_root() noexcept;

private:
  friend class leaf;
  friend class wait_ticket;
  friend class shield;
  friend class current_stop_token;

  using publication = leaf_word<std_atomics>::publication;

  void complete(std::uint32_t wait, bool cancelled) noexcept;
  inline void run_frames() noexcept;
  progress drive_on(bool unwinds) noexcept;
  progress drive_postponed() noexcept;
  progress drive_ready(publication how) noexcept;
  bool has_to_give_way() noexcept;
  bool waits() noexcept;
  bool source_holds_on(publication how) noexcept;
  bool unwind_to_boundary() noexcept;
  void set_shield(bool on) noexcept;
  [[nodiscard]] bool task_is_to_stop() const noexcept;
  stop_watch& watch();
  void forget_watch() noexcept;

  executor* home_;
  frame_handle root_;
  leaf* waiting_for_ = nullptr;  // while now is phase::waiting or postponed
  leaf_word<std_atomics> word_;
  stop_watch* watch_ = nullptr;  // made when a stop token is first asked for
  std::uint32_t shields_ = 0;
};

}  // namespace skua::inline SKUA_ABI
