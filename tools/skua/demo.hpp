// tools/skua/demo.hpp: skua demo: a service and its clients in one process.
#pragma once

#include "load_generator.hpp"
#include "runtime_flags.hpp"

namespace skua_tool {

struct demo_settings {
  runtime_flags runtime;
  load_plan load;
  double seconds = 5;
  bool json = false;
};

/// Gives the exit code; throws a failure.
int run_demo(const demo_settings& how);

}  // namespace skua_tool
