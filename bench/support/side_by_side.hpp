// bench/support/side_by_side.hpp: compares two ways to do one thing, in one run, by medians.
#pragma once

/// `run(rounds)` does the thing `rounds` times and returns something that depends on it.
struct side {
  const char* name;
  unsigned long (*run)(int rounds);
};

/// The main() of a comparing benchmark; returns its exit code. By its command line:
///   (nothing)       times both sides in interleaved runs of `rounds`; prints the medians and their
///                   ratio, ours / theirs.
///   at-most RATIO   the same, and fails if the ratio is larger.
///   ours N          runs only that side, N rounds, for tools/instructions.py to count.
///   theirs N        likewise.
int side_by_side(int argc, char** argv, const char* what, int rounds, side ours, side theirs);
