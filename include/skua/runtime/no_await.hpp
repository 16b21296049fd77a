// skua/runtime/no_await.hpp: a part of a task in which it must not wait, and that is checked.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI {

/// From here to the end of its scope the task does not wait, or the program ends and says so:
///
///   {
///     const std::lock_guard held(table_mutex);
///     const skua::no_await here;
///     co_await update(table);  // right as long as it never waits
///   }
///
/// For what belongs to a thread and is held by a task: a std::mutex above all, a reference to a
/// thread_local object. A task also waits when it gives way because its turn is used up, at any
/// await that counts against it (a free lock, a message that is there): beneath unconstrained() it
/// does not. It is seen when the task's turn ends, in tasks and chains of a runtime; not
/// under sync_wait(), and not if the task goes on within the same turn, as a branch of when_all()
/// may. Costs a call at each end, and every turn of every task one comparison. Stays where it is,
/// and ends on the thread that made it.
class [[nodiscard, gnu::visibility("default")]] no_await {
public:
  no_await() noexcept;
  no_await(const no_await&) = delete;
  no_await& operator=(const no_await&) = delete;
  ~no_await();
};

}  // namespace skua::inline SKUA_ABI
