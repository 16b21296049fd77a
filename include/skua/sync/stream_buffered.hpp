// skua/sync/stream_buffered.hpp: awaits what a stream gives, several at a time.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/stream_adaptor.hpp"
#include "skua/coro/stream_map.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/unit.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/auto_reset_event.hpp"
#include "skua/sync/mutex.hpp"
#include "skua/sync/stream_concurrent.hpp"

#include <concepts>
#include <cstddef>
#include <deque>
#include <exception>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::stream {

/// Whether results come in the order of the source or of their ends.
enum class result_order : unsigned char { of_source, of_ends };

template <typename Source>
class buffer_feeder;
template <typename Source, typename Function>
class call_feeder;

/// See buffered(): for streams of awaitables.
class buffer {
public:
  buffer(std::size_t at_once, result_order order) noexcept : at_once_(at_once), order_(order) {
    check(at_once > 0, "a buffered stream has at least one under way at a time");
  }
  template <typename Source>
    requires awaitable<typename Source::value_type>
  [[nodiscard]] auto operator()(Source from) const {
    using feeder = buffer_feeder<Source>;
    return concurrent<feeder, no_shape>(feeder(std::move(from), at_once_, order_), no_shape());
  }

private:
  std::size_t at_once_;
  result_order order_;
};

/// See buffered(): with a function that makes the awaitables.
template <typename Function>
class buffer_of {
public:
  buffer_of(buffer how, Function fn) : how_(how), fn_(std::move(fn)) {}
  template <typename Source>
  [[nodiscard]] auto operator()(Source from) && {
    using feeder = call_feeder<Source, Function>;
    return concurrent<feeder, no_shape>(feeder(std::move(from), how_, std::move(fn_)), no_shape());
  }
  template <typename Source>
  [[nodiscard]] auto operator()(Source from) const& {
    return buffer_of(*this)(std::move(from));
  }

private:
  buffer how_;
  Function fn_;
};

/// `urls() | stream::buffered(8, fetch)` calls `fetch(url)`, which gives an awaitable that can be
/// moved (a task, a join_handle), for each value, awaits up to 8 of them at a time, and gives their
/// results in the order of the source; `unit` for what gives none. One that has ended counts until
/// its result was asked for. They take turns in one task, as in when_all(); let the function
/// spawn() to use more processors. Such tasks are let go, not stopped, if the stream ends before
/// them: a task in a scope is not.
///
/// To be used with for_each(), collect() or use(): see stream_concurrent.hpp. If the source or one
/// of them throws, the results before it are given; then the others are stopped, and when they have
/// ended that is thrown. 0 ends the program, and says so. Costs a frame for each that is under way
/// at a time, and another with a function, beside its own.
template <typename Function>
[[nodiscard]] auto buffered(std::size_t at_once, Function&& fn) {
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return buffer_of<std::decay_t<Function>>(buffer(at_once, result_order::of_source),
                                           std::forward<Function>(fn));
}
/// The same for a stream of awaitables.
[[nodiscard]] inline buffer buffered(std::size_t at_once) noexcept {
  return {at_once, result_order::of_source};
}

/// The same, but gives each result as soon as it is there. If one throws, the others are stopped at
/// once; results that had come are given before that is thrown.
template <typename Function>
[[nodiscard]] auto buffered_unordered(std::size_t at_once, Function&& fn) {
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return buffer_of<std::decay_t<Function>>(buffer(at_once, result_order::of_ends),
                                           std::forward<Function>(fn));
}
/// The same for a stream of awaitables.
[[nodiscard]] inline buffer buffered_unordered(std::size_t at_once) noexcept {
  return {at_once, result_order::of_ends};
}

// --- how

/// A place in the order of the source. Who is first gives its result, and passes that on.
class result_place : public list_link<> {
public:
  explicit result_place(intrusive_list<result_place>& line) noexcept : line_(line) {
    if (line_.empty()) first_.set();
    line_.push_back(*this);
  }
  result_place(const result_place&) = delete;
  result_place& operator=(const result_place&) = delete;
  /// If it was not passed on, nobody behind it becomes the first: that would leave a result out.
  ~result_place() {
    if (!passed_on_) intrusive_list<result_place>::remove(*this);
  }

  [[nodiscard]] auto is_first() noexcept { return first_.wait(); }
  void pass_on() noexcept {
    intrusive_list<result_place>::remove(*this);
    passed_on_ = true;
    if (result_place* const next = line_.front()) next->first_.set();
  }

private:
  intrusive_list<result_place>& line_;
  auto_reset_event first_;
  bool passed_on_ = false;
};

/// What the lanes of a buffered stream share: each takes something from the source, awaits it, and
/// gives its result.
template <typename Awaitable, typename T>
class buffer_lanes {
public:
  buffer_lanes(async_generator<Awaitable>& from, const outlet<T>& to, branch_group& all,
               std::size_t at_once, result_order order)
      : from_(from), to_(to), all_(all), at_once_(at_once), order_(order) {}

  /// As long as there is something to take for it, a lane makes the next one.
  void add() {
    if (lanes_.size() == at_once_) return;
    task<> lane = run(*this);
    all_.start(lanes_.emplace_back(branch_seed<void>{all_, lane}));
  }

private:
  static task<> run(buffer_lanes& self) {
    context& here = co_await current_context();
    bool goes_on = true;
    while (goes_on && !here.is_to_stop()) {
      mutex::guard turn = co_await self.at_source_.lock();
      result_place mine(self.line_);
      outcome<T> how;
      try {
        auto item = co_await self.from_.next();
        turn.unlock();
        if (!item) co_return;
        self.add();
        if constexpr (std::is_void_v<await_result_t<Awaitable>>) {
          co_await std::move(*item);
          how.set_value();
        } else {
          how.set_value(co_await std::move(*item));
        }
      } catch (...) {
        how.set_exception(std::current_exception());
      }
      turn.unlock();
      if (self.order_ == result_order::of_source) co_await mine.is_first();
      if (how.has_exception()) std::rethrow_exception(how.exception());  // stops the others
      const shield hidden(here);                                         // see give()
      const auto sent = co_await self.to_.send(std::move(how));
      goes_on = sent.has_value();
      mine.pass_on();
    }
  }

  async_generator<Awaitable>& from_;
  const outlet<T>& to_;
  branch_group& all_;
  const std::size_t at_once_;
  const result_order order_;
  mutex at_source_;
  intrusive_list<result_place> line_;
  std::deque<branch_of<void>> lanes_;
};

template <typename Awaitable, typename T>
task<> feed_buffered(async_generator<Awaitable> from, std::size_t at_once, result_order order,
                     const outlet<T>& to) {
  branch_group all(co_await current_context(), branch_group::policy::stop_at_failure);
  buffer_lanes<Awaitable, T> lanes(from, to, all, at_once, order);
  lanes.add();
  while (all.running() > 0) co_await all.step();
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
}

template <typename Source>
class buffer_feeder {
  using awaited = typename Source::value_type;

public:
  using value_type = value_or_unit<await_result_t<awaited>>;
  static_assert(std::is_object_v<awaited> && std::is_object_v<value_type>,
                "what is awaited several at a time, and its result, are kept: map references");

  buffer_feeder(Source from, std::size_t at_once, result_order order)
      : from_(std::move(from)), at_once_(at_once), order_(order) {}

  [[nodiscard]] task<> feed(const outlet<value_type>& to) && {
    if constexpr (std::same_as<Source, async_generator<awaited>>)
      return feed_buffered(std::move(from_), at_once_, order_, to);
    else
      return feed_from_concurrent(std::move(from_), at_once_, order_, to);
  }

private:
  static task<> feed_from_concurrent(Source from, std::size_t at_once, result_order order,
                                     const outlet<value_type>& to) {
    auto all = [&](async_generator<awaited> values) {
      return feed_buffered(std::move(values), at_once, order, to);
    };
    co_await use(std::move(from), all);
  }

  Source from_;
  std::size_t at_once_;
  result_order order_;
};

/// Keeps the function until all that it gave has ended: a lambda that is a coroutine uses its
/// captures till then, and the source may have ended before. Each element lives as long as what the
/// function gave for it.
template <typename Source, typename Function>
class call_feeder {
  using awaited = std::invoke_result_t<Function&, typename Source::value_type>;

public:
  using value_type = value_or_unit<await_result_t<awaited>>;

  call_feeder(Source from, buffer how, Function fn)
      : from_(std::move(from)), how_(how), fn_(std::move(fn)) {}

  [[nodiscard]] task<> feed(const outlet<value_type>& to) && {
    return feed_calls(std::move(from_), how_, std::move(fn_), to);
  }

private:
  using element = typename Source::value_type;

  // Keeps the element as well: most functions take it by reference.
  static task<await_result_t<awaited>> call(Function* fn, element value) {
    co_return co_await (*fn)(static_cast<element&&>(value));
  }
  static task<> feed_calls(Source from, buffer how, Function fn, const outlet<value_type>& to) {
    auto calls = [&fn](element value) { return call(&fn, static_cast<element&&>(value)); };
    auto all = how(std::move(from) | adaptor<unawaited_step, decltype(calls)>(calls));
    co_await std::move(all).take_feeder().feed(to);
  }

  Source from_;
  buffer how_;
  Function fn_;
};

}  // namespace skua::inline SKUA_ABI::stream
