// skua/coro/branch_group.hpp: await chains that run concurrently within one task.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/executor.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/work_queue.hpp"
#include "skua/coro/branch_stack.hpp"
#include "skua/coro/context.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/side_chain.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace skua::inline SKUA_ABI {

class branch_group;

/// One of the chains.
class [[gnu::visibility("default")]] branch : public side_chain, public list_link<> {
public:
  [[nodiscard]] context& task() const noexcept override;

protected:
  branch(branch_group& of, frame_handle root) noexcept;
  ~branch() = default;

private:
  friend class branch_group;
  static void run(work& item) noexcept;
  void went(progress how) noexcept;

  branch_group& of_;
};

template <typename T>
using branch_of = chain_of<branch, T>;
template <typename T>
using branch_seed = chain_seed<branch_group, T>;

/// For combinators, which are coroutines: makes branches, and lets them run until all have ended:
///
///   branch_group all(co_await current_context(), branch_group::policy::stop_at_failure);
///   branch_of<int> first({all, a}), second({all, b});
///   all.start(first);
///   all.start(second);
///   while (all.running() > 0) co_await all.step();
///   if (all.is_stopped()) co_await yield();  // which unwinds
///
/// The branches run on the task's own turns, one at a time: they share what the task has without
/// locks. Whatever the policy, nothing is over before every branch has ended. A stop of the task
/// does not end step(): it is passed on to the branches.
class [[gnu::visibility("default")]] branch_group final : private executor {
public:
  enum class policy : unsigned char {
    wait_for_all,     ///< none is stopped
    stop_at_failure,  ///< the first that fails stops the others
    stop_at_end,      ///< the first that ends stops the others
  };

  branch_group(context& of, policy how) noexcept : root_(of), policy_(how), step_(*this) {}
  ~branch_group();

  /// It is ready now, behind those before it.
  void start(branch& one) noexcept;
  /// All of them, in this order, but for where it begins: none is favoured.
  void start_in_turn(std::initializer_list<branch*> all) noexcept;
  void start_in_turn(branch* const* all, std::size_t count) noexcept;
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  /// The first that failed or ended, as the policy says; null if none did.
  [[nodiscard]] branch* decisive() const noexcept { return decisive_; }
  /// With wait_for_all: the combinator gives what `one` gives, if that is a value. Before it steps.
  void gives_value_of(const branch& one) noexcept { giver_ = &one; }
  /// At the end: the task is to stop, and so the decisive one was.
  [[nodiscard]] bool is_stopped() const noexcept;
  /// At the end: throws what the decisive one has thrown, or task_cancelled if it was stopped.
  /// Nothing if it has a value, or if there is none.
  void rethrow() const;

  /// Waits until a branch is ready, and runs those that are.
  class [[gnu::visibility("default")]] step_wait final : public leaf {
  public:
    explicit step_wait(branch_group& of) noexcept : of_(of) {}

    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      of_.combinator_ = to_frame(self);
      if (of_.goes_on_at_once()) return false;
      if (of_.steps_aside()) return true;
      arm_in_spite_of_stop(of_.combinator_);
      start();
      return true;
    }
    void await_resume() const noexcept { of_.run_ready(); }

  private:
    void start() noexcept override;
    cancel_answer cancel() noexcept override;
    branch_group& of_;
  };
  [[nodiscard]] step_wait& step() noexcept { return step_; }

  // What is no branch, and counts as one that runs: the clock of a timeout.

  /// step() waits for it, too, until it has arrived and was run, which calls forget().
  void expect() noexcept { ++running_; }
  /// Any thread, once: the next step runs it. The group may be gone when this returns.
  void arrive(work& item) noexcept { schedule(item); }
  /// It is waited for no more. By the task itself.
  void forget() noexcept { --running_; }
  /// The task is to stop, and so the branches are.
  [[nodiscard]] bool is_to_stop() const noexcept { return root_.stop_requested(); }

  /// Asks those that run to stop. By the task itself, or while it waits.
  void stop_all() noexcept;
  /// The same by the task itself, and runs those that can end at once.
  void end_all() noexcept;

private:
  friend class branch;

  void schedule(work& item) noexcept override;
  void defer(work& item) noexcept override;
  void offload(work& item) noexcept override;
  /// What is ready may run in the turn that the task has. Counted in any case, as a wait or against
  /// the turn: see start_in_turn().
  [[nodiscard]] bool goes_on_at_once() noexcept {
    return !gives_way_ && (!own_.empty() || ready_.some()) && root_.spend_from_turn();
  }
  /// A branch gives way, and nothing else has to happen first: so does the task.
  [[nodiscard]] bool steps_aside() noexcept {
    if (!std::exchange(gives_way_, false) || own_.empty()) return false;
    root_.step_aside(combinator_);
    return true;
  }
  [[nodiscard]] static std::uint32_t count_of(const context& one) noexcept;
  void run_ready() noexcept;
  void run_batch() noexcept;
  /// What this branch still waits for would be thrown away.
  [[nodiscard]] bool nobody_wants(const branch& one) const noexcept;
  void ended(branch& one) noexcept;
  /// It has a value, or will have it for certain when what it runs besides has ended.
  void has_value(branch& one) noexcept;
  void decide(branch& one) noexcept;

  context& root_;
  frame_handle combinator_;  // the coroutine that steps
  const policy policy_;
  bool decided_ = false;    // the others are to end, and nobody wants what they give
  bool gives_way_ = false;  // a branch did
  std::size_t running_ = 0;
  branch* decisive_ = nullptr;
  const branch* giver_ = nullptr;
  intrusive_list<branch> live_;
  work_queue own_;                   // ready by the task's own doing: begun, or given way
  branch_stack<std_atomics> ready_;  // and by that of others
  step_wait step_;
};

}  // namespace skua::inline SKUA_ABI
