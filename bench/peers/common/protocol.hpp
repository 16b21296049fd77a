// bench/peers/common/protocol.hpp: what a contestant is asked, and how it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace peers {

/// `program QUESTION --workers N [--scale K] ...`
struct request {
  std::string question;
  std::size_t workers = 1;
  double scale = 1;               ///< of how often something is done
  std::string order = "fifo";     ///< of a runtime that has a choice
  std::size_t buffer = 16'384;    ///< of each connection of an echo server
  bool hog = false;               ///< beside an echo server: a task that computes and gives no way
  unsigned port = 0;              ///< where a load goes to
  std::string path = "/var/tmp";  ///< the directory for files
};

struct answer {
  std::string unit;
  double value = 0;
  std::uint64_t operations = 0;
};

struct question {
  std::string name;
  std::function<answer(const request&)> ask;
};

/// Each program has its own.
[[nodiscard]] std::vector<question> all_questions();

/// So many operations at scale 1; at least one, and always a multiple of `multiple`.
[[nodiscard]] std::uint64_t scaled(const request& asked, std::uint64_t full,
                                   std::uint64_t multiple = 1);

/// Ends the program if a result is wrong.
void must_be(std::uint64_t is, std::uint64_t wanted);
[[nodiscard]] constexpr std::uint64_t sum_below(std::uint64_t count) {
  return count * (count - 1) / 2;
}

/// Nanoseconds of a clock that only goes forward.
[[nodiscard]] std::int64_t now();
[[nodiscard]] answer per_operation(std::int64_t nanoseconds, std::uint64_t operations);

/// What this process has in memory, in bytes.
[[nodiscard]] std::uint64_t resident_bytes();

/// An echo server says where it listens, once it does.
void say_port(unsigned port);

}  // namespace peers
