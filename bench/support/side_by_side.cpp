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

using nanoseconds = std::chrono::duration<double, std::nano>;

// A median of fewer says little; more than that, or more time than that, adds nothing.
constexpr std::size_t fewest_runs = 5;
constexpr std::size_t most_runs = 31;
constexpr nanoseconds long_enough = std::chrono::seconds(2);

unsigned long sink = 0;

double nanoseconds_per_round(const side& one, int rounds) {
  const auto start = std::chrono::steady_clock::now();
  sink += one.run(rounds);
  const nanoseconds took = std::chrono::steady_clock::now() - start;
  return took.count() / rounds;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

std::string readable(double time) {
  char text[32];
  if (time < 1e5)
    std::snprintf(text, sizeof text, "%.2f ns", time);
  else
    std::snprintf(text, sizeof text, "%.3f ms", time / 1e6);
  return text;
}

/// The ratio of the medians.
double compare(const char* what, const comparison& one, bool once) {
  std::vector<double> ours;
  std::vector<double> theirs;
  const auto start = std::chrono::steady_clock::now();
  const auto enough = [&] {
    if (once) return !ours.empty();
    return ours.size() >= most_runs ||
           (ours.size() >= fewest_runs && std::chrono::steady_clock::now() - start >= long_enough);
  };
  while (!enough()) {
    theirs.push_back(nanoseconds_per_round(one.theirs, one.rounds));
    ours.push_back(nanoseconds_per_round(one.ours, one.rounds));
  }
  const double ratio = median(ours) / median(theirs);
  std::printf("%s%s%s: %s %s, %s %s, ratio %.2f\n", what, one.name.empty() ? "" : ", ",
              one.name.c_str(), one.ours.name, readable(median(ours)).c_str(), one.theirs.name,
              readable(median(theirs)).c_str(), ratio);
  std::fflush(stdout);
  return ratio;
}

int usage(const char* program, std::span<const comparison> all) {
  std::fprintf(stderr, "usage: %s %s[at-most RATIO | once | ours N | theirs N]\n", program,
               all.size() > 1 ? "[only NAME] " : "");
  for (const comparison& one : all)
    if (!one.name.empty()) std::fprintf(stderr, "  %s\n", one.name.c_str());
  return 2;
}

}  // namespace

int side_by_side(int argc, char** argv, const char* what, int rounds, side ours, side theirs) {
  const comparison one[] = {{"", rounds, ours, theirs}};
  return side_by_side(argc, argv, what, one);
}

int side_by_side(int argc, char** argv, const char* what, std::span<const comparison> all) {
  std::span<char*> words(argv + 1, static_cast<std::size_t>(argc - 1));
  std::span<const comparison> chosen = all;
  if (words.size() >= 2 && std::string_view(words[0]) == "only") {
    const auto found = std::ranges::find(all, words[1], &comparison::name);
    if (found == all.end()) return usage(argv[0], all);
    chosen = {found, 1};
    words = words.subspan(2);
  }
  const bool once = words.size() == 1 && std::string_view(words[0]) == "once";
  const std::string_view mode = words.size() == 2 ? words[0] : "";
  if ((mode == "ours" || mode == "theirs") && chosen.size() == 1) {
    const comparison& one = chosen.front();
    const int rounds = std::atoi(words[1]);
    std::printf("%.3f ns\n", nanoseconds_per_round(mode == "ours" ? one.ours : one.theirs, rounds));
    return 0;
  }
  if (!words.empty() && !once && mode != "at-most") return usage(argv[0], all);
  int failed = 0;
  for (const comparison& one : chosen) {
    const double ratio = compare(what, one, once);
    if (mode != "at-most" || ratio <= std::atof(words[1])) continue;
    std::printf("more than %s\n", words[1]);
    failed = 1;
  }
  return failed;
}
