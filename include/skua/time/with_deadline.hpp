// skua/time/with_deadline.hpp: a moment by which all that is awaited has to end.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/task_local.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_limit.hpp"
#include "skua/time/timeout.hpp"

#include <system_error>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Where the deadline is kept.
[[nodiscard, gnu::visibility("default")]] const task_local<instant>& deadline_local() noexcept;

/// `co_await with_deadline(now() + 2s, answer(request))`: as timeout_at(), but known to everything
/// beneath, which asks for it by current_deadline(): to pass it on to another process, or to leave
/// out what cannot be done in time. Of deadlines within each other the earliest holds; beneath
/// shielded(), which hides the stops of those outside, the earliest inside.
///
/// It flows into branches, chains of parallel_all() and children of with_scope(): these are stopped
/// at that moment, and know it before. A task that is spawned otherwise is stopped by nobody here;
/// give it the deadline by hand:
///
///   spawn(with_deadline(co_await current_deadline(), job()));
///
/// If x has not ended by then it is stopped, and when it has ended std::errc::timed_out is given;
/// by the outermost of those that hold at that moment, the inner ones being unwound. Everything
/// else is as for timeout(): what x gives even so counts more, and what it lost is lost. `end` may
/// be instant::never(), which sets nothing. Takes one frame more than timeout().
template <typename Awaitable>
[[nodiscard]] auto with_deadline(instant end, Awaitable&& awaited) {
  return made_of<Awaitable>(
      await_by_deadline(end, await_in_task(std::forward<Awaitable>(awaited))));
}

/// `const instant end = co_await current_deadline();` The moment by which the calling code has to
/// end; instant::never() if there is none. Never suspends.
class current_deadline : public task_local<instant>::get_awaiter {
public:
  current_deadline() noexcept : get_awaiter(&deadline_local()) {}
  instant await_resume() const noexcept {
    const instant* const found = get_awaiter::await_resume();
    return found != nullptr ? *found : instant::never();
  }
};

// --- how

template <typename T>
task<limited<T>> await_by_deadline(instant end, task<T> what) {
  const instant outer = co_await current_deadline();
  if (end != instant::never()) {  // a later one, too, or the same: a shield may hide the outer one
    const instant earliest = end < outer ? end : outer;
    co_return co_await deadline_local().with(earliest, await_in_time(end, std::move(what)));
  }
  if constexpr (std::is_void_v<T>) {
    co_await std::move(what);
    co_return {};
  } else {
    co_return co_await std::move(what);
  }
}

}  // namespace skua::inline SKUA_ABI
