// tests/support/thread_state.hpp: whether a thread sleeps, as the kernel sees it.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace skua_test {

/// Of this process. False while it runs, or waits for a processor; also if it has gone.
inline bool sleeps_in_kernel(pid_t thread) {
  std::ifstream about("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(about, line);)
    if (line.starts_with("State:")) return line.find('S', 6) != std::string::npos;
  return false;
}

}  // namespace skua_test
