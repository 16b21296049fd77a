// skua/time/stream_time.hpp: streams and time: a rhythm, a slower one, a limit for each value.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/await_unless.hpp"
#include "skua/coro/stream_adaptor.hpp"
#include "skua/coro/task.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/interval.hpp"
#include "skua/time/sleep.hpp"
#include "skua/time/time_span.hpp"
#include "skua/time/timeout.hpp"

#include <system_error>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::stream {

/// `stream::from(tick)`: the moments at which the ticks of an interval were due. The interval stays
/// where it is. A stop or a lost race ends the stream, but no tick is lost: the next stream, or
/// tick.next(), gives it. Never ends by itself.
[[nodiscard]] inline async_generator<instant> from(interval& tick) {
  for (;;) co_yield co_await tick.next();
}

inline async_generator<instant> run_ticks(time_span period, missed_ticks late) {
  interval tick(period, late);
  for (;;) co_yield co_await tick.next();
}
/// `stream::every(1s)`: the same with an interval of its own, which begins when the first value is
/// asked for; that one comes at once.
template <duration_like Duration>
[[nodiscard]] async_generator<instant> every(Duration period,
                                             missed_ticks late = missed_ticks::burst) {
  return run_ticks(time_span(period), late);
}

struct throttle_step {
  template <typename T>
  static async_generator<T> run(async_generator<T> from, time_span pause) {
    while (auto item = co_await from.next()) {
      const instant given = now();
      co_yield static_cast<T&&>(*item);
      co_await sleep_until(given + pause);
    }
  }
};
/// At most one value in that time: after each it lets at least so much time pass, and then asks its
/// source for the next. The first comes without a pause. Loses nothing: the source waits meanwhile,
/// and no value is at hand that a stop of the pause could lose. So a source that takes its time
/// when it is asked takes it after the pause.
template <duration_like Duration>
[[nodiscard]] auto throttle(Duration pause) {
  return adaptor<throttle_step, time_span>(time_span(pause));
}

struct timeout_step {
  template <typename T>
  static task<typename async_generator<T>::item> next_of(async_generator<T>& from) {
    co_return co_await from.next();
  }
  template <typename T>
  static async_generator<result<T>> run(async_generator<T> from, time_span limit) {
    static_assert(can_be_kept<T>, "a result holds no reference: map it");
    for (;;) {
      auto item = co_await skua::timeout(limit, next_of(from));
      if (!item) {
        result<T> none = fail(item.error());
        co_yield std::move(none);
        co_return;
      }
      if (!*item) co_return;
      result<T> value = std::move(**item);
      co_yield std::move(value);
    }
  }
};
/// Gives result<T>s: each value, if the source gives it within that time after it was asked; if
/// not, std::errc::timed_out, and that is the end. The source was stopped in the middle then, and
/// has ended: no generator goes on after that. If it gives a value all the same, that counts. A
/// value that comes later must not be lost? Let a task of its own send it to a channel, and await
/// `timeout(d, rx.receive())`, which loses nothing.
///
/// Takes three frames from the recycler for each value, and a timer.
template <duration_like Duration>
[[nodiscard]] auto timeout(Duration limit) {
  return adaptor<timeout_step, time_span>(time_span(limit));
}

}  // namespace skua::inline SKUA_ABI::stream
