// tests/support/open_fds.hpp: how many descriptors the process has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace skua_test {

/// But for the one that counting takes.
inline std::size_t open_fds() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
}

}  // namespace skua_test
