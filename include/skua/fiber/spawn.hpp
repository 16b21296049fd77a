// skua/fiber/spawn.hpp: starts a plain function on a fiber, beside the one that starts it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/fiber/call.hpp"
#include "skua/fiber/options.hpp"
#include "skua/runtime/named.hpp"
#include "skua/runtime/spawn.hpp"

#include <source_location>
#include <utility>

namespace skua::inline SKUA_ABI::fiber {

/// `join_handle<T> handle = fiber::spawn(options().name("parser"), fn, args...)`: skua::spawn() of
/// fiber::call(). It is a task like any other: joined, aborted, named, listed, and stopped by
/// shutdown. Function and arguments are moved into it.
///
/// Throws std::logic_error outside a runtime, std::bad_alloc; then nothing was started. If no
/// stack can be had, the task fails with std::system_error.
template <not_options Function, typename... Args>
auto spawn(const options& how, Function&& function, Args&&... args) {
  return skua::spawn(
      named(how.name(), call(how, std::forward<Function>(function), std::forward<Args>(args)...)),
      how.where());
}

/// One overload per number of arguments, since a defaulted location cannot follow a pack.
template <not_options Function>
auto spawn(Function&& function, std::source_location where = std::source_location::current()) {
  return spawn(options(where), std::forward<Function>(function));
}
/// The same with one argument.
template <not_options Function, typename A>
auto spawn(Function&& function, A&& a,
           std::source_location where = std::source_location::current()) {
  return spawn(options(where), std::forward<Function>(function), std::forward<A>(a));
}
/// The same with two arguments.
template <not_options Function, typename A, typename B>
auto spawn(Function&& function, A&& a, B&& b,
           std::source_location where = std::source_location::current()) {
  return spawn(options(where), std::forward<Function>(function), std::forward<A>(a),
               std::forward<B>(b));
}
/// More arguments than that: the location is then that of this line.
template <not_options Function, typename A, typename B, typename C, typename... More>
auto spawn(Function&& function, A&& a, B&& b, C&& c, More&&... more) {
  return spawn(options(), std::forward<Function>(function), std::forward<A>(a), std::forward<B>(b),
               std::forward<C>(c), std::forward<More>(more)...);
}

}  // namespace skua::inline SKUA_ABI::fiber
