// skua/runtime/runtime.hpp: the threads and queues that run tasks, from start to shutdown.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/driver/driver_info.hpp"
#include "skua/runtime/config.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/key_number.hpp"
#include "skua/runtime/metrics.hpp"
#include "skua/runtime/spawnable.hpp"
#include "skua/runtime/start_error.hpp"
#include "skua/runtime/task_info.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <source_location>
#include <tuple>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

class core;

/// What shutdown() left behind.
struct shutdown_report {
  /// Tasks that did not stop in time. They may go on for as long as the process lives; their memory
  /// and the runtime's stay valid.
  std::vector<task_info> still_running;
  /// All have stopped: nothing was left behind.
  [[nodiscard]] bool complete() const noexcept { return still_running.empty(); }
};

/// What stands for a task without a value in the tuple that wait_all() gives.
struct no_value {};

/// A reference to a runtime that any thread may copy, keep and use. It may outlive the runtime,
/// which then accepts nothing more.
class [[gnu::visibility("default")]] runtime_handle {
public:
  /// Use current() or runtime::get_handle().
  explicit runtime_handle(core& of) noexcept;  // takes a reference of its own
  /// Refers to the same runtime.
  runtime_handle(const runtime_handle& from) noexcept;
  /// `from` refers to none then, and can only be assigned to or destroyed.
  runtime_handle(runtime_handle&& from) noexcept : core_(std::exchange(from.core_, nullptr)) {}
  /// Refers to the runtime of `from`.
  runtime_handle& operator=(runtime_handle from) noexcept {
    std::swap(core_, from.core_);
    return *this;
  }
  ~runtime_handle();

  /// The runtime of the calling code; throws std::logic_error outside one.
  [[nodiscard]] static runtime_handle current();

  /// Starts a task that belongs to the runtime itself: see skua::spawn() for what can be spawned;
  /// call(fn, args...) makes a task of a callable and its arguments.
  /// After shutdown the handle it gives resolves as cancelled, and `what` is destroyed unstarted.
  /// The tasks of a current_thread runtime run while some thread is in its block_on().
  template <typename Spawnable>
  auto spawn(Spawnable&& what, std::source_location where = std::source_location::current()) const {
    using T = spawned_t<Spawnable>;
    return join_handle<T>(
        *order_for(std::forward<Spawnable>(what), where)
             .hand_to([this](const spawn_request& order) { return accept(order, false); }));
  }

  /// The same on a certain worker, and by a key: see skua::spawn_on() and skua::spawn_by().
  template <typename Spawnable>
  auto spawn_on(std::size_t worker, Spawnable&& what,
                std::source_location where = std::source_location::current()) const {
    using T = spawned_t<Spawnable>;
    return join_handle<T>(
        *order_for(std::forward<Spawnable>(what), where).hand_to([&](spawn_request order) {
          order.worker = worker;
          return accept(order, false);
        }));
  }
  /// On the worker of a key: see skua::spawn_by().
  template <typename Key, typename Spawnable>
  auto spawn_by(const Key& key, Spawnable&& what,
                std::source_location where = std::source_location::current()) const {
    using T = spawned_t<Spawnable>;
    return join_handle<T>(
        *order_for(std::forward<Spawnable>(what), where).hand_to([&](spawn_request order) {
          order.key = key_number(key);
          order.has_key = true;
          return accept(order, false);
        }));
  }

  /// The same, but refuses (limit_exceeded) while config::spawn_queue_limit tasks wait.
  template <typename Spawnable>
  [[nodiscard]] auto try_spawn(Spawnable&& what,
                               std::source_location where = std::source_location::current()) const
      -> result<join_handle<spawned_t<Spawnable>>> {
    task_cell* const cell =
        order_for(std::forward<Spawnable>(what), where).hand_to([this](const spawn_request& order) {
          return accept(order, true);
        });
    if (cell == nullptr) return fail(errc::limit_exceeded);
    return join_handle<spawned_t<Spawnable>>(*cell);
  }

  /// How many there are. They have the numbers below this.
  [[nodiscard]] std::size_t workers() const noexcept;
  /// How many tasks live on a worker of a thread_per_core runtime; 0 in other flavours.
  [[nodiscard]] std::size_t tasks_on(std::size_t worker) const noexcept;
  /// Counted since the start; taken worker by worker, while they go on.
  [[nodiscard]] metrics_snapshot metrics() const;
  /// How it talks to the kernel, and why that way.
  [[nodiscard]] skua::driver_info driver_info() const;
  /// Every task that lives, and where it waits. Looks at all of them: for people, not for loops.
  [[nodiscard]] std::vector<task_info> tasks() const;

private:
  friend class runtime;
  [[nodiscard]] core& get() const noexcept;
  task_cell* accept(const spawn_request& order, bool only_if_room) const;

  core* core_;
};

/// Owns its workers. Several may exist in one process. Its functions may be called from any thread,
/// but not from its own tasks where that is said.
class [[gnu::visibility("default")]] runtime {
public:
  class builder;
  /// What get_handle() gives.
  using handle = runtime_handle;

  /// Starts workers and all. On failure nothing is left behind.
  [[nodiscard]] static std::expected<runtime, start_error> start(const config& settings);

  /// `from` is no runtime then: it can only be assigned to or destroyed.
  runtime(runtime&& from) noexcept : handle_(std::move(from.handle_)) {}
  /// The one that it was ends, as by the destructor.
  runtime& operator=(runtime&& from) noexcept {
    runtime old(std::move(*this));
    handle_ = std::move(from.handle_);
    return *this;
  }
  /// Like shutdown() without a limit of time. In one of its own tasks, where nobody can wait for
  /// it, that is an error in the log; everything is asked to stop, and cleaned up when it has.
  ~runtime();

  /// Runs `root` (see skua::spawn() for what can be run) and blocks until it and every task spawned
  /// beneath it have ended. Gives its value; rethrows its exception; throws task_cancelled if it
  /// was stopped. If it fails, the tasks beneath it are asked to stop, and awaited, first.
  ///
  /// Throws std::logic_error on a worker of any runtime, where it would block other tasks, and on a
  /// current_thread runtime that another thread drives.
  template <typename Spawnable>
  decltype(auto) block_on(Spawnable&& root,
                          std::source_location where = std::source_location::current()) {
    using T = spawned_t<Spawnable>;
    task_hold ended;
    order_for_root(std::forward<Spawnable>(root), where).hand_to([&](const spawn_request& order) {
      run_to_the_end(&order, 1, &ended);
      return ended.get();
    });
    return ended.take_outcome<T>().value();
  }

  /// The same for several at once; gives a tuple of their values, with no_value for those without.
  /// Use named("a name", root) to tell them apart: their place is this line.
  /// If one fails the others are asked to stop; the first exception, in the order of arguments, is
  /// rethrown.
  template <typename... Spawnables>
  auto wait_all(Spawnables&&... roots) {
    const auto here = std::source_location::current();
    return run_tasks(order_for_root(std::forward<Spawnables>(roots), here)...);
  }

  /// See runtime_handle::spawn().
  template <typename Spawnable>
  auto spawn(Spawnable&& what, std::source_location where = std::source_location::current()) {
    return handle_.spawn(std::forward<Spawnable>(what), where);
  }
  /// See runtime_handle::try_spawn().
  template <typename Spawnable>
  [[nodiscard]] auto try_spawn(Spawnable&& what,
                               std::source_location where = std::source_location::current()) {
    return handle_.try_spawn(std::forward<Spawnable>(what), where);
  }

  /// See runtime_handle::spawn_on().
  template <typename Spawnable>
  auto spawn_on(std::size_t worker, Spawnable&& what,
                std::source_location where = std::source_location::current()) {
    return handle_.spawn_on(worker, std::forward<Spawnable>(what), where);
  }
  /// See runtime_handle::spawn_by().
  template <typename Key, typename Spawnable>
  auto spawn_by(const Key& key, Spawnable&& what,
                std::source_location where = std::source_location::current()) {
    return handle_.spawn_by(key, std::forward<Spawnable>(what), where);
  }

  /// How many workers it has.
  [[nodiscard]] std::size_t workers() const noexcept { return handle_.workers(); }
  /// For those who outlive this object, or are on other threads. Copy it.
  [[nodiscard]] const handle& get_handle() const noexcept { return handle_; }
  /// See runtime_handle::metrics().
  [[nodiscard]] metrics_snapshot metrics() const { return handle_.metrics(); }
  /// See runtime_handle::driver_info().
  [[nodiscard]] skua::driver_info driver_info() const { return handle_.driver_info(); }
  /// See runtime_handle::tasks().
  [[nodiscard]] std::vector<task_info> tasks() const { return handle_.tasks(); }

  /// Accepts nothing more, asks every task to stop, and blocks until all have, at most `timeout`.
  /// What did not stop is reported, and left alone. docs/shutdown.md tells the steps.
  template <duration_like Duration>
  shutdown_report shutdown(Duration timeout) {
    return shut_down(to_nanoseconds(timeout));
  }
  /// The same without a limit of time.
  shutdown_report shutdown();

  /// Accepts nothing more from outside, stops nobody, and blocks until every task has ended by
  /// itself: none runs, none waits for I/O, a lock or a message, and none can come any more, since
  /// what a live task spawns is counted before that task has ended. Then the runtime is over, as
  /// after shutdown(), and this gives true. False, with a `timeout`: some still live, and go on;
  /// or a shutdown() by another thread has come meanwhile. A current_thread runtime runs its tasks
  /// in here. Throws std::logic_error in one of its own tasks.
  bool drain();
  /// The same for at most so long. False if some tasks had not ended by then.
  template <duration_like Duration>
  bool drain(Duration timeout) {
    return drain_for(to_nanoseconds(timeout));
  }

private:
  explicit runtime(core& started) noexcept : handle_(started) {}

  void run_to_the_end(const spawn_request* orders, std::size_t count, task_hold* ended);
  shutdown_report shut_down(std::int64_t timeout);
  bool drain_for(std::int64_t timeout);

  template <typename... Ts>
  auto run_tasks(spawn_order<Ts>... roots);

  handle handle_;
};

/// The settings of a runtime, one after the other.
///   auto rt = runtime::builder().workers(4).name("api").build();
class runtime::builder {
public:
  /// See config, where each has a field of the same name.
  ///@{
  builder& flavour(skua::flavour which) noexcept { return set(settings_.flavour, which); }
  builder& order(skua::order which) noexcept { return set(settings_.order, which); }
  builder& workers(std::size_t count) noexcept { return set(settings_.workers, count); }
  builder& dispatcher(any_dispatcher places) {
    settings_.dispatcher = std::move(places);
    return *this;
  }
  builder& pinning(skua::pinning to) {
    settings_.pinning = std::move(to);
    return *this;
  }
  builder& name(std::string_view threads) noexcept {
    name_length_ = threads.copy(name_, sizeof name_);
    return *this;
  }
  builder& budget(std::uint32_t operations) noexcept { return set(settings_.budget, operations); }
  builder& lifo_slot(bool use) noexcept { return set(settings_.lifo_slot, use); }
  builder& histograms(bool keep) noexcept { return set(settings_.histograms, keep); }
  builder& blocking_threads(std::size_t most) noexcept {
    return set(settings_.blocking_threads, most);
  }
  builder& unhandled(skua::unhandled policy) noexcept { return set(settings_.unhandled, policy); }
  builder& hooks(skua::hooks& watcher) noexcept { return set(settings_.hooks, &watcher); }
  builder& backend(skua::backend which) noexcept { return set(settings_.backend, which); }
  builder& log(logger where) noexcept { return set(settings_.log, where); }
  ///@}

  /// Every other setting.
  [[nodiscard]] config& settings() noexcept { return settings_; }

  /// Starts it: see runtime::start().
  [[nodiscard]] std::expected<runtime, start_error> build() const {
    config whole = settings_;
    if (name_length_ > 0) whole.name = {name_, name_length_};
    return runtime::start(whole);
  }

private:
  template <typename T>
  builder& set(T& field, const T& value) noexcept {
    field = value;
    return *this;
  }

  config settings_;
  char name_[config::name_max + 1] = {};  // room for one that is too long, and refused
  std::size_t name_length_ = 0;           // 0: the one in the settings
};

template <typename T>
decltype(auto) value_or_nothing(outcome<T>&& end) {
  if constexpr (std::is_void_v<T>) {
    std::move(end).value();
    return no_value();
  } else {
    return std::move(end).value();
  }
}

template <typename... Ts>
auto runtime::run_tasks(spawn_order<Ts>... roots) {
  constexpr std::size_t count = sizeof...(Ts);
  static_assert(count > 0, "wait_all() waits for at least one");
  const spawn_request orders[] = {roots.request()...};
  task_hold ended[count];
  run_to_the_end(orders, count, ended);
  (roots.accepted(), ...);

  return [&]<std::size_t... index>(std::index_sequence<index...>) {
    std::tuple<outcome<Ts>...> ends{ended[index].template take_outcome<Ts>()...};
    // Those that were stopped because another failed come after the one that did.
    for (const std::exception_ptr& thrown : {std::get<index>(ends).exception()...})
      if (thrown != nullptr) std::rethrow_exception(thrown);
    // Not by deduction: that takes a single pair or tuple apart.
    return std::tuple<decltype(value_or_nothing(std::get<index>(std::move(ends))))...>{
        value_or_nothing(std::get<index>(std::move(ends)))...};
  }(std::index_sequence_for<Ts...>());
}

}  // namespace skua::inline SKUA_ABI
