// skua/sync/once_cell.hpp: a value that the first who needs it makes, for all.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/sync/mutex.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `settings& all = co_await cell.get_or_init(load_settings, path);` The first runs the
/// initialiser, the others wait for it; from then on all get the same T, until the cell is
/// destroyed. Any task or thread may ask.
///
/// If the initialiser throws, its caller gets the exception; if its caller is stopped, it is
/// stopped with it; either way the next who waits tries with its own. An initialiser must not ask
/// its own cell.
template <typename T>
class once_cell {
public:
  once_cell() = default;
  once_cell(const once_cell&) = delete;
  once_cell& operator=(const once_cell&) = delete;

  /// Null if it is not there yet. One load: the cheap way once it is there.
  [[nodiscard]] T* get() noexcept { return is_ready() ? &*value_ : nullptr; }
  /// Null if it is not there yet.
  [[nodiscard]] const T* get() const noexcept { return is_ready() ? &*value_ : nullptr; }

  /// What `fn(args...)` gives, which is awaited if it can be. Callable and arguments are moved into
  /// the task, as by call().
  template <typename Callable, typename... Args>
  [[nodiscard]] task<T&> get_or_init(Callable&& fn, Args&&... args) {
    return init(call(std::forward<Callable>(fn), std::forward<Args>(args)...));
  }

private:
  [[nodiscard]] bool is_ready() const noexcept {
    // order: [once_cell.ready] acquire: the value.
    return ready_.load(std::memory_order_acquire);
  }

  template <typename Made>
  task<T&> init(task<Made> make) {
    if (is_ready()) co_return *value_;
    const auto turn = co_await turn_.lock();
    if (!is_ready()) {
      value_.emplace(co_await std::move(make));
      // order: [once_cell.ready] release: the value.
      ready_.store(true, std::memory_order_release);
    }
    co_return *value_;
  }

  std::atomic<bool> ready_ = false;
  mutex turn_;  // of who makes the value
  std::optional<T> value_;
};

}  // namespace skua::inline SKUA_ABI
