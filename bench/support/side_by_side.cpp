// bench/support/side_by_side.cpp: interleaved timing of two sides.
#include "support/side_by_side.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

unsigned long sink = 0;

double nanoseconds_per_round(const side& one, int rounds) {
  const auto start = std::chrono::steady_clock::now();
  sink += one.run(rounds);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / rounds;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace

int side_by_side(int argc, char** argv, const char* what, int rounds, side ours, side theirs) {
  const std::string_view mode = argc == 3 ? argv[1] : "";
  if (mode == "ours" || mode == "theirs") {
    sink += (mode == "ours" ? ours : theirs).run(std::atoi(argv[2]));
    return 0;
  }
  if (argc != 1 && mode != "at-most") {
    std::fprintf(stderr, "usage: %s [at-most RATIO | ours N | theirs N]\n", argv[0]);
    return 2;
  }
  std::vector<double> our_times;
  std::vector<double> their_times;
  for (int repetition = 0; repetition < 31; ++repetition) {
    their_times.push_back(nanoseconds_per_round(theirs, rounds));
    our_times.push_back(nanoseconds_per_round(ours, rounds));
  }
  const double our_median = median(our_times);
  const double their_median = median(their_times);
  const double ratio = our_median / their_median;
  std::printf("%s: %s %.2f ns, %s %.2f ns, ratio %.2f\n", what, ours.name, our_median, theirs.name,
              their_median, ratio);
  if (mode != "at-most" || ratio <= std::atof(argv[2])) return 0;
  std::printf("more than %s\n", argv[2]);
  return 1;
}
