// skua/sync/stream_merge.hpp: the values of several streams, as they come.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/sync/stream_concurrent.hpp"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::stream {

/// Feeds from a fixed number of streams.
template <typename First, typename... Others>
class merge_feeder {
public:
  using value_type = typename First::value_type;

  merge_feeder(First first, Others... others) : sources_(std::move(first), std::move(others)...) {}

  [[nodiscard]] task<> feed(const outlet<value_type>& to) && {
    std::vector<task<>> pumps;
    std::apply([&](auto&... each) { (pumps.push_back(pump(std::move(each), to)), ...); }, sources_);
    return when_all(std::move(pumps));
  }

private:
  std::tuple<First, Others...> sources_;
};

/// Feeds from any number of streams of one type.
template <typename Source>
class merge_all_feeder {
public:
  using value_type = typename Source::value_type;

  explicit merge_all_feeder(std::vector<Source> sources) : sources_(std::move(sources)) {}

  [[nodiscard]] task<> feed(const outlet<value_type>& to) && {
    std::vector<task<>> pumps;
    pumps.reserve(sources_.size());
    for (Source& one : sources_) pumps.push_back(pump(std::move(one), to));
    return when_all(std::move(pumps));
  }

private:
  std::vector<Source> sources_;
};

/// `stream::merge(clicks(), keys())`: all values of all of them, each as soon as it is there, those
/// of one source in its order. Ends when the last of them has ended. Fair: a source that gave a
/// value comes behind those that wait to give one. A source that has a value which nobody has asked
/// for yet waits, and nothing is lost. To be used with for_each(), collect() or use(), which says
/// what happens to the others when one throws, and at the end: see stream_concurrent.hpp.
///
/// The sources are async_generators or themselves merged or buffered; they are moved in. Their
/// values can be moved without throwing.
template <typename First, typename... Others>
[[nodiscard]] auto merge(First first, Others... others) {
  static_assert((std::same_as<typename First::value_type, typename Others::value_type> && ...),
                "streams that are merged give values of one type: map them first");
  using feeder = merge_feeder<First, Others...>;
  return concurrent<feeder, no_shape>(feeder(std::move(first), std::move(others)...), no_shape());
}

/// The same for any number of streams of one type; none ends at once.
template <typename Source>
[[nodiscard]] auto merge(std::vector<Source> sources) {
  using feeder = merge_all_feeder<Source>;
  return concurrent<feeder, no_shape>(feeder(std::move(sources)), no_shape());
}

}  // namespace skua::inline SKUA_ABI::stream
