// skua/runtime/parallel_group.hpp: chains of one task that run on all workers at once.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/side_chain.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI {

class parallel_group;

/// One of the chains. What it spawns belongs where its task's spawns do.
class [[gnu::visibility("default")]] parallel_chain : public side_chain {
public:
  [[nodiscard]] context& task() const noexcept override;

protected:
  parallel_chain(parallel_group& of, frame_handle root) noexcept;
  ~parallel_chain() = default;

private:
  static void run(work& item) noexcept;

  parallel_group& of_;
};

template <typename T>
using parallel_chain_of = chain_of<parallel_chain, T>;
template <typename T>
using parallel_seed = chain_seed<parallel_group, T>;

/// For combinators, which are coroutines: runs chains that lie in their frame, each wherever there
/// is a worker for it, and goes on when all have ended. The first that fails stops the others; so
/// does a stop of the task.
class [[gnu::visibility("default")]] parallel_group {
public:
  explicit parallel_group(context& of) noexcept;
  parallel_group(const parallel_group&) = delete;
  parallel_group& operator=(const parallel_group&) = delete;

  /// Starts them, and waits until all have ended, whatever happens.
  class [[gnu::visibility("default")]] run_wait final : public leaf {
  public:
    explicit run_wait(parallel_group& of) noexcept : of_(of) {}
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      arm_in_spite_of_stop(to_frame(self));
      start();
    }
    void await_resume() const noexcept {}

  private:
    void start() noexcept override;
    cancel_answer cancel() noexcept override;
    parallel_group& of_;
  };
  /// `co_await group.run(chains)`, once. They stay where they are, and so does the span's array.
  [[nodiscard]] run_wait& run(std::span<parallel_chain* const> chains) noexcept {
    chains_ = chains;
    return run_;
  }

  /// At the end: the task is to stop, and so the first one that failed was.
  [[nodiscard]] bool is_stopped() const noexcept;
  /// At the end: throws what the first that failed has thrown, or task_cancelled if it was stopped.
  void rethrow() const;

private:
  friend class parallel_chain;
  void ended(parallel_chain& one) noexcept;
  void stop_all() noexcept;

  context& root_;
  executor& where_;
  task_cell* cell_;  // of the task; null outside a runtime
  std::span<parallel_chain* const> chains_;
  std::atomic<std::size_t> left_{0};
  std::atomic<parallel_chain*> first_failed_{nullptr};
  run_wait run_;
};

}  // namespace skua::inline SKUA_ABI
