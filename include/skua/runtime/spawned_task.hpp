// skua/runtime/spawned_task.hpp: a spawned task without its result type: what handles work on.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <source_location>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Where a spawned task lives: its context, its join state and its result. Private to the runtime.
class task_cell;

/// What the runtime does with a result whose type it does not know. `at` is an outcome<T>.
struct result_operations {
  std::size_t size;
  /// Moves the outcome of a root that has returned to `at`. True if it is an exception.
  bool (*take)(frame_handle root, void* at) noexcept;
  /// Makes `at` the outcome of a task that was stopped.
  void (*set_stopped)(void* at) noexcept;
  void (*destroy)(void* at) noexcept;
  /// Null if there is none, or if it was moved out.
  std::exception_ptr (*exception)(const void* at) noexcept;
};

template <typename T>
struct result_of {
  static bool take(frame_handle root, void* at) noexcept {
    outcome<T>& from = task<T>::handle::from_address(root.address()).promise().result();
    check(!from.stopped(), "a task<T> ends with co_return; this one ran off its end");
    try {
      return !(::new (at) outcome<T>(std::move(from)))->has_value();
    } catch (...) {  // the value could not be moved
      (::new (at) outcome<T>())->set_exception(std::current_exception());
      return true;
    }
  }
  static void set_stopped(void* at) noexcept { ::new (at) outcome<T>(); }
  static void destroy(void* at) noexcept { static_cast<outcome<T>*>(at)->~outcome(); }
  static std::exception_ptr exception(const void* at) noexcept {
    return static_cast<const outcome<T>*>(at)->exception();
  }

  static constexpr result_operations operations{sizeof(outcome<T>), take, set_stopped, destroy,
                                                exception};
};

/// A root that is to become a task. The frame belongs to the runtime once it was accepted.
struct spawn_request {
  static constexpr std::size_t any_worker = ~std::size_t{0};

  frame_handle root;
  const result_operations* result;
  std::source_location where;
  std::string_view name;
  std::size_t worker = any_worker;
  std::uint64_t key = 0;
  bool has_key = false;
};

/// The handle's side of a task. Each is called by the one who holds the handle.
struct [[gnu::visibility("default")]] spawned_task {
  static void drop(task_cell& cell) noexcept;  // the last use
  static bool abort(task_cell& cell) noexcept;
  [[nodiscard]] static bool done(const task_cell& cell) noexcept;
  /// Who awaits it, in await_suspend(): if it is ready, and would be next here, it runs now, in the
  /// turn and on the stack of the awaiting task. True if it is done.
  [[nodiscard]] static bool run_in_place(task_cell& cell, frame_handle awaiting) noexcept;
  [[nodiscard]] static std::uint64_t id(const task_cell& cell) noexcept;
  /// The outcome<T>, once done().
  [[nodiscard]] static void* result(task_cell& cell) noexcept;
};

/// Holds the handle's side of a task.
class task_hold {
public:
  task_hold() = default;
  explicit task_hold(task_cell* cell) noexcept : cell_(cell) {}
  task_hold(task_hold&& from) noexcept : cell_(std::exchange(from.cell_, nullptr)) {}
  task_hold& operator=(task_hold&& from) noexcept {
    if (this != &from) {
      drop();
      cell_ = std::exchange(from.cell_, nullptr);
    }
    return *this;
  }
  ~task_hold() { drop(); }

  [[nodiscard]] task_cell* get() const noexcept { return cell_; }
  void adopt(task_cell& cell) noexcept { cell_ = &cell; }
  [[nodiscard]] task_cell* give_up() noexcept { return std::exchange(cell_, nullptr); }
  void drop() noexcept {
    if (cell_ != nullptr) spawned_task::drop(*std::exchange(cell_, nullptr));
  }

  /// Moves the outcome out of a task that is done, and drops it. If that throws, it is held still.
  template <typename T>
  outcome<T> take_outcome() {
    outcome<T> taken = std::move(*static_cast<outcome<T>*>(spawned_task::result(*cell_)));
    drop();
    return taken;
  }

private:
  task_cell* cell_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
