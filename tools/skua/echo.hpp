// tools/skua/echo.hpp: skua echo: a server that sends back what it gets.
#pragma once

#include "runtime_flags.hpp"

#include <cstddef>
#include <string>

namespace skua_tool {

struct echo_settings {
  runtime_flags runtime;
  std::string listen = "127.0.0.1:7000";
  std::size_t max_connections = 10'000;
  double idle_seconds = 60;
  double drain_seconds = 5;
  bool json = false;
};

/// Until SIGINT or SIGTERM. Gives the exit code; throws a failure.
int run_echo(const echo_settings& how);

}  // namespace skua_tool
