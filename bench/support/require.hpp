// bench/support/require.hpp: what a benchmark relies on.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::abort();
}
