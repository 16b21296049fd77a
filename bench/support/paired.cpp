// bench/support/paired.cpp: median and sign test.
#include "support/paired.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace {

// Each ratio is below the true median with probability 1/2. How many may be left out at the low end
// so that the next is above it with at most 5 %?
std::size_t left_out(std::size_t count) {
  constexpr double doubt = 0.05;
  double term = std::pow(0.5, static_cast<double>(count));  // that exactly `k` are below
  double sum = term;
  std::size_t k = 0;
  for (;;) {
    term *= static_cast<double>(count - k) / static_cast<double>(k + 1);
    if (sum + term > doubt) return k;
    sum += term;
    ++k;
  }
}

}  // namespace

paired paired_ratio(std::vector<double> ratios) {
  std::ranges::sort(ratios);
  return {.median = ratios[ratios.size() / 2], .low = ratios[left_out(ratios.size())]};
}
