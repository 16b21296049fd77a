// tests/support/started.hpp: runtimes of every kind for tests that are about all of them.
#pragma once

#include "skua/runtime/runtime.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>

namespace skua_test {

/// Ends the program if there is none to be had: nothing can be tested then.
inline skua::runtime started(const skua::config& settings) {
  auto made = skua::runtime::start(settings);
  if (!made) {
    const std::string why(made.error().message());
    std::fprintf(stderr, "no runtime: %s\n", why.c_str());
    std::abort();
  }
  return std::move(*made);
}

/// What a parametrised test is run with.
struct kind {
  skua::flavour flavour;
  std::size_t workers;
  skua::order order = skua::order::fifo;

  [[nodiscard]] bool is_alone() const { return flavour == skua::flavour::current_thread; }
  /// Tasks stay on the worker where they were placed; children with their parents.
  [[nodiscard]] bool is_placed() const { return flavour == skua::flavour::thread_per_core; }
  /// A worker that has nothing to do takes from the others, and serves one that is stuck.
  [[nodiscard]] bool steals() const { return flavour == skua::flavour::multi_thread; }
  [[nodiscard]] skua::config settings() const {
    skua::config with;
    with.flavour = flavour;
    with.workers = workers;
    with.order = order;
    return with;
  }
  friend std::ostream& operator<<(std::ostream& to, const kind& one) {
    if (one.is_alone()) return to << "current_thread";
    return to << (one.is_placed() ? "thread_per_core_" : "multi_thread_") << one.workers
              << (one.order == skua::order::lifo ? "_lifo" : "");
  }
};

inline std::string name_of_kind(const testing::TestParamInfo<kind>& info) {
  return testing::PrintToString(info.param);
}

inline constexpr kind alone = {skua::flavour::current_thread, 1};
inline constexpr kind one_worker = {skua::flavour::multi_thread, 1};
inline constexpr kind two_workers = {skua::flavour::multi_thread, 2};
inline constexpr kind four_workers = {skua::flavour::multi_thread, 4};
inline constexpr kind one_worker_lifo = {skua::flavour::multi_thread, 1, skua::order::lifo};
inline constexpr kind two_workers_lifo = {skua::flavour::multi_thread, 2, skua::order::lifo};

inline constexpr kind one_core = {skua::flavour::thread_per_core, 1};
inline constexpr kind two_cores = {skua::flavour::thread_per_core, 2};

inline constexpr std::array all_kinds = {
    alone, one_worker, two_workers, four_workers, two_workers_lifo, one_core, two_cores};

inline auto every_kind() {
  return testing::ValuesIn(all_kinds);
}
inline auto kinds_with_one_worker() {
  return testing::Values(alone, one_worker, one_worker_lifo, one_core);
}
inline auto kinds_with_threads() {
  return testing::Values(one_worker, two_workers, four_workers, two_workers_lifo, one_core,
                         two_cores);
}
inline auto kinds_that_steal() {
  return testing::Values(one_worker, two_workers, four_workers, two_workers_lifo);
}

}  // namespace skua_test
