// skua/runtime/spawn_blocking.hpp: runs a call that blocks on a thread where that does no harm.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/driver/pool_job.hpp"
#include "skua/runtime/call.hpp"

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

class task_cell;

/// The wait for a call on the pool. The derived type has the call and its outcome.
class [[gnu::visibility("default")]] blocking_wait : public leaf, private pool_job {
protected:
  using call_function = void (*)(blocking_wait&) noexcept;
  explicit blocking_wait(call_function how) noexcept : pool_job(run_job), call_(how) {}
  ~blocking_wait() = default;

  /// Throws std::system_error if no thread could be had. First thing in await_resume().
  void throw_if_refused() const;

private:
  static void run_job(pool_job& job) noexcept;
  void start() noexcept override;
  cancel_answer cancel() noexcept override;

  call_function call_;
  task_cell* task_ = nullptr;  // on whose behalf
  bool refused_ = false;
};

/// A call that has not been made. `co_await` makes it; dropped, it is never made.
template <typename Callable, typename... Args>
class [[nodiscard("the call is made when it is awaited")]] blocking_call {
  using value = std::remove_cvref_t<decltype(std::declval<Callable&>()(std::declval<Args>()...))>;

public:
  using awaited_as_rvalue_tag = void;

  /// Use spawn_blocking().
  template <typename C, typename... A>
  explicit blocking_call(std::in_place_t, C&& callable, A&&... args)
      : callable_(std::forward<C>(callable)), args_(std::forward<A>(args)...) {}

  class awaiter final : public blocking_wait {
  public:
    explicit awaiter(blocking_call&& what) : blocking_wait(make_call), what_(std::move(what)) {}
    value await_resume() {
      throw_if_refused();
      return std::move(result_).value();
    }

  private:
    static void make_call(blocking_wait& self) noexcept {
      awaiter& mine = static_cast<awaiter&>(self);
      blocking_call& call = mine.what_;
      try {
        if constexpr (std::is_void_v<value>) {
          std::apply(call.callable_, std::move(call.args_));
          mine.result_.set_value();
        } else {
          mine.result_.set_value(std::apply(call.callable_, std::move(call.args_)));
        }
      } catch (...) {
        mine.result_.set_exception(std::current_exception());
      }
    }

    blocking_call what_;
    outcome<value> result_;
  };

  /// `co_await spawn_blocking(...)`: makes the call, and gives what it returns or throws. Once.
  awaiter operator co_await() && { return awaiter(std::move(*this)); }

private:
  Callable callable_;
  std::tuple<Args...> args_;
};

/// `co_await spawn_blocking(fn, args...)`: calls fn on a thread of the pool, and gives its value or
/// rethrows its exception. Callable and arguments are moved along (wrap references in std::ref).
///
/// Nothing happens before it is awaited; spawn(spawn_blocking(...)) runs it beside the caller. A
/// task that is stopped before the call has begun makes no call; once it has begun, the task waits
/// for its end, since it cannot be interrupted, gets its value, and stops at its next leaf. Throws
/// std::system_error if the system has no thread for it.
template <typename Callable, typename... Args>
  requires callable_with<std::decay_t<Callable>&, std::decay_t<Args>...>
[[nodiscard]] auto spawn_blocking(Callable&& callable, Args&&... args) {
  static_assert(callable_survives<Callable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  return blocking_call<std::decay_t<Callable>, std::decay_t<Args>...>(
      std::in_place, std::forward<Callable>(callable), std::forward<Args>(args)...);
}

}  // namespace skua::inline SKUA_ABI
