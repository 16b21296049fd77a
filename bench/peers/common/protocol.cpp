// bench/peers/common/protocol.cpp: what a contestant is asked, and how it answers.
#include "common/protocol.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace peers {

std::uint64_t scaled(const request& asked, std::uint64_t full, std::uint64_t multiple) {
  const auto wanted = static_cast<std::uint64_t>(static_cast<double>(full) * asked.scale);
  return std::max(wanted / multiple, std::uint64_t{1}) * multiple;
}

void must_be(std::uint64_t is, std::uint64_t wanted) {
  if (is == wanted) return;
  std::fprintf(stderr, "wrong result: %llu, not %llu\n", static_cast<unsigned long long>(is),
               static_cast<unsigned long long>(wanted));
  std::abort();
}

std::int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

answer per_operation(std::int64_t nanoseconds, std::uint64_t operations) {
  return {"ns/op", static_cast<double>(nanoseconds) / static_cast<double>(operations), operations};
}

std::uint64_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long all = 0;
  unsigned long resident = 0;
  const bool read = file != nullptr && std::fscanf(file, "%lu %lu", &all, &resident) == 2;
  if (file != nullptr) std::fclose(file);
  must_be(read ? 1 : 0, 1);
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void say_port(unsigned port) {
  std::printf("{\"port\": %u}\n", port);
  std::fflush(stdout);
}

}  // namespace peers
