// bench/support/side_by_side.hpp: compares two ways to do one thing, in one run, by medians.
#pragma once

#include <span>
#include <string>

/// `run(rounds)` does the thing `rounds` times and returns something that depends on it.
struct side {
  const char* name;
  unsigned long (*run)(int rounds);
};

/// One of several comparisons that a program makes. `rounds` is how many make one run, which should
/// take some milliseconds.
struct comparison {
  std::string name;
  int rounds;
  side ours;
  side theirs;
};

/// The main() of a comparing benchmark; returns its exit code. By its command line:
///   (nothing)       times both sides in interleaved runs of `rounds`; prints the medians and their
///                   ratio, ours / theirs.
///   at-most RATIO   the same, and fails if the ratio is larger.
///   once            the same with one run each: shows that it runs, and not much more.
///   ours N          runs only that side, N rounds, for tools/instructions.py to count; prints the
///                   time of a round.
///   theirs N        likewise.
/// Of several comparisons, `only NAME` in front of these takes one; ours and theirs need it.
int side_by_side(int argc, char** argv, const char* what, int rounds, side ours, side theirs);
int side_by_side(int argc, char** argv, const char* what, std::span<const comparison> all);
