// tools/skua/bench.hpp: skua bench: measures skua on this machine.
#pragma once

#include "runtime_flags.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace skua_tool {

struct bench_settings {
  runtime_flags runtime;
  std::vector<std::string> names;  // those that have one of these in their name; none: all
  std::size_t rounds = 11;
  double round_seconds = 0.05;
  bool list = false;
  bool json = false;
};

/// Gives the exit code; throws a failure.
int run_bench(const bench_settings& how);

}  // namespace skua_tool
