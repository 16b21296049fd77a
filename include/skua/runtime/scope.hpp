// skua/runtime/scope.hpp: children that run beside a task, and end before it goes on.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/task_local.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/child_set.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/runtime/spawnable.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

class scope;

/// One child. Made before it is spawned, and then part of its frame.
class [[gnu::visibility("default")]] scope_member : public child_set::member {
public:
  explicit scope_member(scope& of) noexcept;
  /// Before it has begun.
  scope_member(scope_member&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
  ~scope_member();

  /// By the child, first of all. False: its scope is being stopped, and now it is to stop itself.
  [[nodiscard]] bool begins(context& self) noexcept;
  void fail(std::exception_ptr why) noexcept;

private:
  scope* of_;
};

/// What a scope does when one of its tasks fails.
enum class scope_policy : unsigned char {
  stop_at_failure,  ///< Stops the others. What failed first is rethrown when all have ended.
  wait_for_all,  ///< Lets them go on. When all have ended, scope_failed tells of all that failed.
                 ///< If the function itself fails, they are stopped all the same.
};

/// Thrown by a scope that waits for all, if any of its tasks failed.
class [[gnu::visibility("default")]] scope_failed final : public std::exception {
public:
  /// Made by with_scope().
  explicit scope_failed(std::vector<std::exception_ptr> causes) noexcept
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a vector, not an exception
      : causes_(std::move(causes)) {}
  /// A short text; the causes have the details.
  [[nodiscard]] const char* what() const noexcept override;
  /// In the order in which they were thrown.
  [[nodiscard]] const std::vector<std::exception_ptr>& causes() const noexcept { return causes_; }

private:
  std::vector<std::exception_ptr> causes_;
};

/// What the function that is given to with_scope() spawns its children in. They may be spawned by
/// that function and by the children themselves, on any worker; nobody else has a scope.
class [[gnu::visibility("default")]] scope {
public:
  /// `within`: who waits for it.
  scope(scope_policy how, context& within) noexcept : policy_(how), within_(within), end_(*this) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope() = default;

  /// Starts `what`, which gives no value, as spawn() does. It may borrow whatever outlives the
  /// scope. An exception that ends it is a failure of the scope; that somebody stops it is none.
  /// While the scope is being stopped, a child ends before its first line.
  /// Throws std::logic_error outside a runtime, std::bad_alloc; then nothing was started.
  template <typename Spawnable>
  void spawn(Spawnable&& what, std::source_location where = std::source_location::current()) {
    static_assert(std::is_void_v<spawned_t<Spawnable>>,
                  "a child of a scope gives no value: let it write to what it borrows, or use "
                  "parallel_all() or a task_group");
    auto wrap = [this](task<> inner) { return run_child(child(*this, std::move(inner))); };
    task_cell* const cell =
        order_for_wrapped(std::forward<Spawnable>(what), where, wrap).hand_to(spawn_here::as_child);
    join_handle<void>(*cell).detach();
  }

  /// The same on a certain worker: see skua::spawn_on(). Throws std::out_of_range, too.
  template <typename Spawnable>
  void spawn_on(std::size_t worker, Spawnable&& what,
                std::source_location where = std::source_location::current()) {
    static_assert(std::is_void_v<spawned_t<Spawnable>>, "a child of a scope gives no value");
    auto wrap = [this](task<> inner) { return run_child(child(*this, std::move(inner))); };
    task_cell* const cell = order_for_wrapped(std::forward<Spawnable>(what), where, wrap)
                                .hand_to([&](spawn_request order) {
                                  order.worker = worker;
                                  return spawn_here::as_child(order);
                                });
    join_handle<void>(*cell).detach();
  }

  /// `spawn(fn, args...)`: callable and arguments are moved into the child.
  template <typename Callable, typename A>
  void spawn(Callable&& fn, A&& a, std::source_location where = std::source_location::current()) {
    spawn(call(std::forward<Callable>(fn), std::forward<A>(a)), where);
  }
  /// The same with two arguments.
  template <typename Callable, typename A, typename B>
  void spawn(Callable&& fn, A&& a, B&& b,
             std::source_location where = std::source_location::current()) {
    spawn(call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b)), where);
  }
  /// The same with three arguments.
  template <typename Callable, typename A, typename B, typename C>
  void spawn(Callable&& fn, A&& a, B&& b, C&& c,
             std::source_location where = std::source_location::current()) {
    spawn(call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b),
               std::forward<C>(c)),
          where);
  }
  /// The same with four arguments.
  template <typename Callable, typename A, typename B, typename C, typename D>
  void spawn(Callable&& fn, A&& a, B&& b, C&& c, D&& d,
             std::source_location where = std::source_location::current()) {
    spawn(call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b),
               std::forward<C>(c), std::forward<D>(d)),
          where);
  }

  /// Asks all children to stop, those to come included. That is no failure.
  void stop() noexcept { children_.stop(); }

  /// How many children have not ended; may be out of date.
  [[nodiscard]] std::size_t running() noexcept;

  // For with_scope().

  /// Who spawns the children, and is stopped when one of them fails.
  void set_body(context& body) noexcept { body_ = &body; }
  /// A child has ended by this exception.
  void fail(std::exception_ptr why) noexcept;
  /// When all have ended: throws as the policy says, if any has failed.
  void rethrow();
  /// The task itself was asked to stop while it waited, and so the children were.
  [[nodiscard]] bool stopped_by_task() const noexcept { return stopped_by_task_; }

  /// Waits until all children have ended, whatever happens. A stop of the task stops them.
  class [[gnu::visibility("default")]] end_wait final : public leaf {
  public:
    explicit end_wait(scope& of) noexcept : of_(of) {}
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      arm_in_spite_of_stop(to_frame(self));
      start();
    }
    void await_resume() const noexcept {}

  private:
    void start() noexcept override;
    cancel_answer cancel() noexcept override;
    scope& of_;
  };
  /// `co_await s.end()`: until all children have ended.
  [[nodiscard]] end_wait& end() noexcept { return end_; }

private:
  friend class scope_member;

  /// One object, so that its parts end in order: g++ 12 destroys parameters the first one first.
  struct child {
    child(scope& whose, task<> inner) noexcept : of(whose), member(whose), what(std::move(inner)) {}
    scope& of;
    scope_member member;
    task<> what;
  };

  static task<> run_child(child self) {
    context& here = co_await current_context();
    if (!self.member.begins(here)) co_await yield();  // which unwinds
    const local_binding inherits(here, self.of.within_);
    try {
      co_await std::move(self.what);
    } catch (...) {
      self.member.fail(std::current_exception());
    }
  }

  const scope_policy policy_;
  context& within_;
  child_set children_;
  bool awaited_ = false;                    // under the children's lock: by the task, in end_
  std::exception_ptr first_;                // likewise
  std::vector<std::exception_ptr> causes_;  // likewise, if all are wanted
  bool stopped_by_task_ = false;            // by who stops the task, and then by the task
  context* body_ = nullptr;
  end_wait end_;
};

}  // namespace skua::inline SKUA_ABI
