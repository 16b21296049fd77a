// skua/sync/task_group.hpp: a changing number of tasks, whose results come as they end.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/unit.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/runtime/spawnable.hpp"
#include "skua/sync/group_state.hpp"

#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

/// Tasks that all give a T:
///
///   task_group<page> fetches(16);  // no more than 16 at a time
///   for (const auto& url : urls) fetches.spawn(fetch(url));
///   while (auto ended = co_await fetches.join_next()) use(std::move(*ended).value());
///
/// Dropping the group asks them all to stop, but does not wait: they must not borrow what ends
/// before them (see with_scope() for that). Results that nobody took go with it, exceptions too.
/// Its functions may be called by several tasks and threads at once, except moving and dropping.
/// Each task costs two allocations beside its own.
template <typename T = void>
class task_group {
public:
  /// As many at a time as there are.
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// At most `limit` of its tasks run at a time; those beyond that wait, without running a line.
  explicit task_group(std::size_t limit = no_limit) : state_(new group_state(limit)) {}
  /// `from` is no group then.
  task_group(task_group&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
  /// The group that it was is dropped: its tasks are asked to stop. `from` is no group then.
  task_group& operator=(task_group&& from) noexcept {
    if (this != &from) {
      drop();
      state_ = std::exchange(from.state_, nullptr);
    }
    return *this;
  }
  ~task_group() { drop(); }

  /// Starts `what` as skua::spawn() does, and throws what that throws.
  template <typename Spawnable>
  void spawn(Spawnable&& what, std::source_location where = std::source_location::current()) {
    static_assert(std::is_same_v<spawned_t<Spawnable>, T>, "a task_group<T> has tasks that give T");
    result* kept = nullptr;
    auto order = order_for_wrapped(std::forward<Spawnable>(what), where, [&](task<T> inner) {
      kept = new result;
      group_state::member self(state(), *kept);  // owns it
      return run_child(child(std::move(self), *kept, std::move(inner)));
    });
    state_->count_in(*kept);
    task_cell* cell = nullptr;
    try {
      cell = order.hand_to(spawn_here::as_child);
    } catch (...) {
      state_->count_out(*kept);
      throw;
    }
    join_handle<void>(*cell).detach();
  }

  /// `spawn(fn, args...)`: callable and arguments are moved into the task.
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

  /// Those that have not ended, and those whose results nobody took; may be out of date.
  [[nodiscard]] std::size_t size() const noexcept { return state().size(); }

  /// Asks all its tasks to stop, those to come included. join_next() gives their ends as usual.
  void stop() noexcept { state().stop(); }

  class next_wait;
  /// `co_await group.join_next()` gives an optional outcome<T>: how the next task ended, in the
  /// order of their ends; empty when none is left. Who is stopped while it waits takes none away.
  [[nodiscard]] next_wait join_next() noexcept { return next_wait(state()); }

  /// The same, at once: empty if none has ended yet.
  [[nodiscard]] std::optional<outcome<T>> try_join_next() { return take(state().try_take()); }

  /// All values, in the order of their ends; nothing for a task_group<>. If a task fails, all are
  /// stopped, and when they have ended its exception is rethrown (task_cancelled if it was
  /// stopped). The group stays where it is meanwhile. A stop of the waiting task loses what has
  /// come so far.
  [[nodiscard]] task<std::conditional_t<std::is_void_v<T>, void, std::vector<value_or_unit<T>>>>
  join_all() {
    std::vector<value_or_unit<T>> values;
    std::optional<outcome<T>> failed;
    while (std::optional<outcome<T>> one = co_await join_next()) {
      if (one->has_value()) {
        values.push_back(take_value(std::move(*one)));
      } else if (!failed) {
        failed = std::move(one);
        stop();
      }
    }
    if (failed) throw_missing_value(failed->exception());
    if constexpr (!std::is_void_v<T>) co_return values;
  }

private:
  struct result final : group_result {
    outcome<T> how;
  };

  /// One object, so that its parts end in order: g++ 12 destroys parameters the first one first.
  struct child {
    child(group_state::member in, result& to, task<T> inner) noexcept
        : member(std::move(in)), kept(to), what(std::move(inner)) {}
    group_state::member member;
    result& kept;
    task<T> what;
  };

  static task<> run_child(child self) {
    context& here = co_await current_context();
    if (!self.member.begins(here)) co_await yield();  // which unwinds
    co_await self.member.enter();
    try {
      self.kept.how = co_await as_outcome(std::move(self.what));
    } catch (...) {  // the value could not be moved
      self.kept.how.set_exception(std::current_exception());
    }
  }

  static std::optional<outcome<T>> take(group_result* from) {
    if (from == nullptr) return {};
    auto* const mine = static_cast<result*>(from);
    struct deleter {
      result* what;
      ~deleter() { delete what; }
    };
    const deleter afterwards{mine};
    return std::move(mine->how);
  }

  group_state& state() const noexcept {
    check(state_ != nullptr, "a task_group is used while it is one; this one was moved from");
    return *state_;
  }

  void drop() noexcept {
    if (state_ == nullptr) return;
    state_->stop();
    std::exchange(state_, nullptr)->release();
  }

  group_state* state_;
};

/// See task_group::join_next().
template <typename T>
class task_group<T>::next_wait final : public group_state::next_wait {
public:
  using group_state::next_wait::next_wait;
  std::optional<outcome<T>> await_resume() { return task_group::take(take_result()); }
};

}  // namespace skua::inline SKUA_ABI
