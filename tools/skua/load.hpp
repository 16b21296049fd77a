// tools/skua/load.hpp: skua load: asks an echo server, and measures its answers.
#pragma once

#include "load_generator.hpp"
#include "runtime_flags.hpp"

#include <string>

namespace skua_tool {

struct load_settings {
  runtime_flags runtime;
  load_plan load;
  std::string target;
  double seconds = 5;
  bool json = false;
};

/// Gives the exit code: 1 if a connection broke, or nothing was answered. Throws a failure.
int run_load(const load_settings& how);

}  // namespace skua_tool
