// skua/sync/stream_concurrent.hpp: a stream with things under way, and the block that ends them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/stream_for_each.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/mpmc.hpp"

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::stream {

/// What merge() and buffered() give: a stream whose sources go on while nobody asks for a value.
/// Something has to await their end, and a generator that is dropped between two values cannot. So
/// this is no async_generator, but a plan for one. Adaptors are added to it as to any stream, and
/// nothing runs before it is used, in one expression that awaits the end of everything:
///
///   auto all = stream::merge(clicks(), keys()) | stream::filter(wanted);
///   co_await stream::for_each(std::move(all), show);   // or collect(), or use()
///
/// The sources take turns in the task that uses them, as the branches of when_all() do: they may
/// borrow whatever outlives the expression, and what they share needs no locks. Each is at most one
/// value ahead of who asks. Costs one allocation and a frame for each source, nothing for a value.
template <typename Feeder, typename Shape>
class [[nodiscard("nothing runs before it is used: for_each(), collect(), use()")]] concurrent {
public:
  /// What comes from the sources, before any adaptor.
  using fed = async_generator<typename Feeder::value_type>;
  /// What the whole gives.
  using value_type = typename std::invoke_result_t<Shape, fed>::value_type;

  /// Made by merge() and buffered().
  concurrent(Feeder feeder, Shape shape) : feeder_(std::move(feeder)), shape_(std::move(shape)) {}

  // For use() and |.
  /// Where values come from. Once.
  [[nodiscard]] Feeder take_feeder() && { return std::move(feeder_); }
  /// What was put behind it by `|`. Once.
  [[nodiscard]] Shape take_shape() && { return std::move(shape_); }

private:
  Feeder feeder_;
  Shape shape_;
};

template <typename Feeder, typename Shape, typename Use>
task<await_result_t<
    std::invoke_result_t<Use&, async_generator<typename concurrent<Feeder, Shape>::value_type>>>>
await_use(concurrent<Feeder, Shape> from, Use fn);

/// `co_await stream::use(source, fn)` awaits `fn(values)`, which gets the stream as an
/// async_generator, and gives what that gives:
///
///   auto first_two = [](async_generator<event> all) -> task<std::pair<event, event>> { ... };
///   auto [a, b] = co_await stream::use(stream::merge(clicks(), keys()), first_two);
///
/// Whatever fn does, when it has ended the sources are stopped, and it goes on when they have
/// ended, too; what they had not given is lost. If a source throws, the others are stopped, values
/// that had come are given, and when all have ended next() throws that; what waited inside a source
/// that is itself merged or buffered had not come yet, and is lost. fn may drop the values or give
/// them away; after the end there are none.
///
/// A stop of the task stops fn and the sources, and unwinds when they have ended, unless fn gives a
/// value even so. fn is moved in if it is a temporary, and copied otherwise.
template <typename Feeder, typename Shape, typename Use>
[[nodiscard]] auto use(concurrent<Feeder, Shape> from, Use&& fn) {
  static_assert(callable_survives<Use>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return await_use<Feeder, Shape, std::decay_t<Use>>(std::move(from), std::forward<Use>(fn));
}

// --- how

/// Where a source puts its values; the exception that ends it all comes last.
template <typename T>
using outlet = mpmc::sender<outcome<T>>;

/// Gives one value when somebody wants it. A stop is hidden meanwhile, so that what has come is not
/// lost because another source has thrown: it is taken, or the outlet is closed. False: the latter.
template <typename T>
task<bool> give(outcome<T> value, const outlet<T>& to) {
  const shield hidden(co_await current_context());
  const auto sent = co_await to.send(std::move(value));
  co_return sent.has_value();
}

/// Everything that a source gives.
template <typename T>
task<> pump(async_generator<T> from, outlet<T> to) {
  static_assert(std::is_object_v<T>, "a source goes on after it gave a value: map references");
  context& here = co_await current_context();
  bool goes_on = true;
  while (goes_on && !here.is_to_stop()) {
    auto item = co_await from.next();
    if (!item) co_return;
    outcome<T> value;
    value.set_value(std::move(*item));
    const shield hidden(here);  // see give(), which would cost a frame for each value
    const auto sent = co_await to.send(std::move(value));
    goes_on = sent.has_value();
  }
}
template <typename Feeder, typename Shape>
task<> pump(concurrent<Feeder, Shape> from,
            outlet<typename concurrent<Feeder, Shape>::value_type> to) {
  using T = typename concurrent<Feeder, Shape>::value_type;
  auto all = [&to](async_generator<T> values) { return pump(std::move(values), to); };
  co_await use(std::move(from), all);
}

template <typename Feeder>
task<> feed(Feeder feeder, outlet<typename Feeder::value_type> last) {
  const outlet<typename Feeder::value_type> to = std::move(last);  // ends here, not with the frame
  outcome<typename Feeder::value_type> failure;
  try {
    co_await std::move(feeder).feed(to);
  } catch (...) {
    failure.set_exception(std::current_exception());
  }
  if (failure.has_exception()) static_cast<void>(co_await give(std::move(failure), to));
}

/// Nobody asks any more.
template <typename T>
class closes_at_end {
public:
  explicit closes_at_end(const mpmc::receiver<T>& what) noexcept : what_(what) {}
  closes_at_end(const closes_at_end&) = delete;
  closes_at_end& operator=(const closes_at_end&) = delete;
  ~closes_at_end() { what_.close(); }

private:
  const mpmc::receiver<T>& what_;
};

template <typename T>
async_generator<T> arrivals(mpmc::receiver<outcome<T>> from) {
  const closes_at_end<outcome<T>> afterwards(from);
  while (std::optional<outcome<T>> one = co_await from.receive()) {
    T value = std::move(*one).value();  // throws what a source has thrown
    co_yield std::move(value);
  }
  const bool may_be_cut_short = co_await stop_requested();  // then the sources were stopped, too
  if (may_be_cut_short) co_await yield();                   // which unwinds
}

/// What the call throws, awaiting it throws.
template <typename Use, typename T>
task<await_result_t<std::invoke_result_t<Use&, async_generator<T>>>> call_use(
    Use& fn, async_generator<T> all) {
  co_return co_await fn(std::move(all));
}

template <typename Feeder, typename Shape, typename Use>
task<await_result_t<
    std::invoke_result_t<Use&, async_generator<typename concurrent<Feeder, Shape>::value_type>>>>
await_use(concurrent<Feeder, Shape> from, Use fn) {
  using T = typename Feeder::value_type;
  using value = await_result_t<
      std::invoke_result_t<Use&, async_generator<typename concurrent<Feeder, Shape>::value_type>>>;
  context& here = co_await current_context();
  auto ends = mpmc::channel<outcome<T>>(0);
  branch_group both(here, branch_group::policy::wait_for_all);
  task<> feeds = feed(std::move(from).take_feeder(), std::move(ends.first));
  // NOLINTNEXTLINE(bugprone-use-after-move): each takes a part of its own.
  task<value> works = call_use(fn, std::move(from).take_shape()(arrivals<T>(ends.second)));
  branch_of<void> background(branch_seed<void>{both, feeds});
  branch_of<value> body(branch_seed<value>{both, works});
  both.start(background);
  both.start(body);
  while (both.running() > 0) {
    co_await both.step();
    if (body.root() != nullptr) continue;
    ends.second.close();  // who waits to give something goes on
    both.stop_all();
  }
  const bool was_stopped = body.failed() && body.exception() == nullptr;
  if (was_stopped && here.stop_requested()) co_await yield();  // which unwinds
  co_return body.take().value();
}

// --- the same words as for other streams

/// The values as they are.
struct no_shape {
  template <typename T>
  async_generator<T> operator()(async_generator<T> from) && {
    return from;
  }
};

/// One adaptor after another.
template <typename First, typename Second>
class shape_then {
public:
  shape_then(First first, Second second) : first_(std::move(first)), second_(std::move(second)) {}
  template <typename T>
  auto operator()(async_generator<T> from) && {
    return std::move(second_)(std::move(first_)(std::move(from)));
  }

private:
  First first_;
  Second second_;
};

template <typename Feeder, typename Shape, typename Adaptor>
auto operator|(concurrent<Feeder, Shape> from, Adaptor&& adaptor) {
  if constexpr (std::invocable<Adaptor, concurrent<Feeder, Shape>>) {
    return std::forward<Adaptor>(adaptor)(std::move(from));
  } else {
    using both = shape_then<Shape, std::decay_t<Adaptor>>;
    Shape first = std::move(from).take_shape();
    return concurrent<Feeder, both>(std::move(from).take_feeder(),
                                    both(std::move(first), std::forward<Adaptor>(adaptor)));
  }
}

template <typename Function>
class for_each_of {
public:
  explicit for_each_of(Function fn) : fn_(std::move(fn)) {}
  template <typename T>
  auto operator()(async_generator<T> all) {
    return for_each(std::move(all), std::move(fn_));
  }

private:
  Function fn_;
};
struct collect_of {
  template <typename T>
  auto operator()(async_generator<T> all) const {
    return collect(std::move(all));
  }
};

/// See for_each() of an async_generator, and use().
template <typename Feeder, typename Shape, typename Function>
[[nodiscard]] auto for_each(concurrent<Feeder, Shape> from, Function&& fn) {
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return await_use(std::move(from),
                   for_each_of<std::decay_t<Function>>(std::forward<Function>(fn)));
}
/// See collect() of an async_generator, and use().
template <typename Feeder, typename Shape>
[[nodiscard]] auto collect(concurrent<Feeder, Shape> from) {
  return await_use(std::move(from), collect_of());
}

}  // namespace skua::inline SKUA_ABI::stream
