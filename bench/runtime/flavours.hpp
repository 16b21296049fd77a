// bench/runtime/flavours.hpp: the same body on every flavour of runtime, one comparison each.
#pragma once

#include "skua/coro/task.hpp"
#include "skua/runtime/run.hpp"
#include "skua/runtime/runtime.hpp"
#include "support/side_by_side.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace flavours {

/// Started when first asked for and kept until the program ends: its start is not measured.
template <skua::flavour Flavour, std::size_t Workers, skua::order Order = skua::order::fifo>
skua::runtime& kept() {
  static skua::runtime one = [] {
    auto started = skua::runtime::builder().flavour(Flavour).workers(Workers).order(Order).build();
    if (!started) skua::throw_start_error(started.error());
    return std::move(*started);
  }();
  return one;
}

/// `Body` is a skua::task<unsigned long>(*)(int rounds).
template <auto Body, skua::flavour Flavour, std::size_t Workers,
          skua::order Order = skua::order::fifo>
unsigned long on(int rounds) {
  return kept<Flavour, Workers, Order>().block_on(Body(rounds));
}

/// Adds a comparison for each: `name`.current_thread, `name`.1_worker, `name`.2_workers, and
/// `name`.thread_per_core, of whose two workers one does it all, since children stay.
template <auto Body>
void add(std::vector<comparison>& to, const std::string& name, int rounds, side theirs) {
  using enum skua::flavour;
  to.push_back({name + ".current_thread", rounds, {"skua", on<Body, current_thread, 1>}, theirs});
  to.push_back({name + ".1_worker", rounds, {"skua", on<Body, multi_thread, 1>}, theirs});
  to.push_back({name + ".2_workers", rounds, {"skua", on<Body, multi_thread, 2>}, theirs});
  to.push_back({name + ".thread_per_core", rounds, {"skua", on<Body, thread_per_core, 2>}, theirs});
}

}  // namespace flavours
