// skua/time/timeout.hpp: a limit of time for what is awaited.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/io_operation.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_limit.hpp"
#include "skua/time/time_span.hpp"

#include <concepts>
#include <system_error>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// An operation of the kernel's, which has a timeout of its own.
template <typename Operation>
concept io_wait_like = std::derived_from<std::remove_cvref_t<Operation>, io_wait>;

/// co_await timeout(30s, io::read(fd, buffer)): the operation's own result, or std::errc::timed_out
/// if it has not ended after that time. It is then cancelled, and awaited: nothing goes on behind
/// the caller's back. One that succeeds at the last moment has succeeded; 0 or less gives it one
/// chance. Costs an entry in the driver's wheel, and no allocation.
///
/// Gives the operation itself: await it in the same expression, or give the operation a name.
template <duration_like Duration, io_wait_like Operation>
[[nodiscard]] std::remove_cvref_t<Operation>& timeout(Duration length, Operation&& op) noexcept {
  std::remove_cvref_t<Operation>& same = op;  // a name: a temporary lives as long as its expression
  same.expire_after(to_nanoseconds(length));
  return same;
}

/// co_await timeout(30s, x) for a task, or anything else that can be awaited. What gives a T gives
/// a result<T> with its value; what gives a result<T> gives that. If x has not ended after that
/// time it is stopped, and when it has ended std::errc::timed_out is given. x and the clock take
/// turns in this task. A second or more begins when the worker next looks at its own clock.
///
/// How x ends counts more than the time: one that still gives a value has given it, whether at the
/// last moment or because it went on in spite of the stop, and an exception is thrown on. 0 or less
/// gives it one chance: it runs up to where it would wait. What x did before it was stopped is
/// lost, unless its leaves give it back; see race().
///
/// A stop of the task stops x, and unwinds, unless x gives a value even so. Takes one frame beside
/// x's own from the recycler. Await it in the same expression if x is a leaf or has a name: those
/// are borrowed. Throws std::logic_error where there is no runtime.
template <duration_like Duration, typename Awaitable>
  requires(!io_wait_like<Awaitable>)
[[nodiscard]] auto timeout(Duration length, Awaitable&& awaited) {
  return made_of<Awaitable>(
      await_in_time(time_span(length), await_in_task(std::forward<Awaitable>(awaited))));
}

/// The same, until a moment: several waits may share one.
template <io_wait_like Operation>
[[nodiscard]] std::remove_cvref_t<Operation>& timeout_at(instant end, Operation&& op) noexcept {
  return timeout(end - now(), std::forward<Operation>(op));
}
/// The same for what is no operation of the kernel's.
template <typename Awaitable>
  requires(!io_wait_like<Awaitable>)
[[nodiscard]] auto timeout_at(instant end, Awaitable&& awaited) {
  return made_of<Awaitable>(await_in_time(end, await_in_task(std::forward<Awaitable>(awaited))));
}

}  // namespace skua::inline SKUA_ABI
