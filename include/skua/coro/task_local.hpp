// skua/coro/task_local.hpp: a value that code finds without its being passed along.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/context.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// A value that holds for what is awaited beneath it. Lives in a frame of the chain it holds for.
class [[gnu::visibility("default")]] local_binding final : private stop_boundary {
public:
  local_binding(context& in, const void* key, void* value) noexcept;
  /// All that holds where `beyond` waits holds in `in`, too. It waits for as long as this lives.
  local_binding(context& in, context& beyond) noexcept;
  local_binding(const local_binding&) = delete;
  local_binding& operator=(const local_binding&) = delete;
  ~local_binding();

  /// What the innermost binding of `key` has for code that runs in `from`; null if there is none.
  [[nodiscard]] static void* find(const context& from, const void* key) noexcept;

private:
  context& in_;
  const void* key_;
  void* value_;
};

/// A key, usually a global variable:
///
///   skua::task_local<std::string> request_id;
///
///   co_await request_id.with("a7", serve(connection));     // for serve() and all it awaits
///   if (const std::string* id = co_await request_id.get()) log(*id);
///
/// The value holds for the awaits within; branches, chains of parallel_all() and children of
/// with_scope() included. Other tasks that are spawned inherit it if they are asked to, by a copy
/// of their own:
///
///   spawn(co_await request_id.inherited_by(clean_up()));
///
/// Costs nothing where it is not used. Finding a value takes as many steps as there are bindings
/// (and as_outcome()s) around. Chains of parallel_all() and children of a scope share the value, on
/// several threads: its type's business.
template <typename T>
class task_local {
public:
  task_local() = default;
  task_local(const task_local&) = delete;
  task_local& operator=(const task_local&) = delete;

  /// Awaits `inner` while the value is `value`, and gives what it gives. Await it in the same
  /// expression if `inner` is a leaf or has a name.
  template <typename Awaitable>
  [[nodiscard]] auto with(T value, Awaitable&& inner) const {
    return made_of<Awaitable>(
        await_with_local(this, std::move(value), await_in_task(std::forward<Awaitable>(inner))));
  }

  class get_awaiter : public current_context {
  public:
    explicit get_awaiter(const void* key) noexcept : key_(key) {}
    T* await_resume() const noexcept {
      return static_cast<T*>(local_binding::find(current_context::await_resume(), key_));
    }

  private:
    const void* key_;
  };
  /// `T* value = co_await key.get();` Never suspends. Null if none holds here. Valid while it
  /// holds.
  [[nodiscard]] get_awaiter get() const noexcept { return get_awaiter(this); }

  /// `spawn(co_await key.inherited_by(x))`: x with a copy of the value that holds here, if any
  /// does.
  template <typename Awaitable>
  [[nodiscard]] auto inherited_by(Awaitable&& inner) const {
    static_assert(!is_borrowed<Awaitable>,
                  "a spawned task owns what it awaits, and this cannot be moved or has a name: "
                  "await it in a coroutine, and pass that");
    return await_inheritance(this, await_in_task(std::forward<Awaitable>(inner)));
  }

private:
  template <typename R>
  static task<R> await_with_local(const task_local* key, T value, task<R> inner) {
    context& here = co_await current_context();
    const local_binding holds(here, key, &value);
    co_return co_await std::move(inner);
  }

  template <typename R>
  static task<task<R>> await_inheritance(const task_local* key, task<R> inner) {
    T* const value = co_await key->get();
    if (value == nullptr) co_return std::move(inner);
    co_return await_with_local(key, *value, std::move(inner));
  }
};

}  // namespace skua::inline SKUA_ABI
