// skua/runtime/spawn_on.hpp: starts a task on a certain worker, or on the one of a key.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/key_number.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/runtime/spawnable.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <cstddef>
#include <source_location>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Like spawn(), but the task runs on worker `worker`, on that worker's thread, from its first line
/// to its end, in every flavour. It is how workers send each other messages: the task itself is put
/// into the inbox of that worker, which is woken if it sleeps; what one thread sends arrives in its
/// order. call(fn, args...) makes a task of a callable and its arguments.
///
/// Throws std::out_of_range if there is no such worker, otherwise as spawn(); then nothing was
/// started. The number of workers is runtime_handle::workers().
template <typename Spawnable>
auto spawn_on(std::size_t worker, Spawnable&& what,
              std::source_location where = std::source_location::current()) {
  using T = spawned_t<Spawnable>;
  return join_handle<T>(
      *order_for(std::forward<Spawnable>(what), where).hand_to([&](spawn_request order) {
        order.worker = worker;
        return spawn_here::as_child(order);
      }));
}

/// Like spawn(), with a key for the dispatcher of a thread_per_core runtime: dispatch::hash puts
/// all tasks with the same key on the same worker, so that they share what belongs to the key
/// without locks; the others do not look at keys. `key`: an integer, a string, or a type with a
/// std::hash. Elsewhere it is plain spawn().
template <typename Key, typename Spawnable>
auto spawn_by(const Key& key, Spawnable&& what,
              std::source_location where = std::source_location::current()) {
  using T = spawned_t<Spawnable>;
  return join_handle<T>(
      *order_for(std::forward<Spawnable>(what), where).hand_to([&](spawn_request order) {
        order.key = key_number(key);
        order.has_key = true;
        return spawn_here::as_child(order);
      }));
}

}  // namespace skua::inline SKUA_ABI
