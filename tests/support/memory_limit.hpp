// tests/support/memory_limit.hpp: makes an allocation fail when a test says so.
#pragma once

#include <cstddef>

namespace skua_test {

/// While it exists, the k-th operator new from now on (counted from 1; every form of it) throws
/// std::bad_alloc, or returns null if it is a form that does not throw. All others work. One at a
/// time. What takes its memory from malloc, as frames of coroutines do, is not counted.
///
/// Link with skua_memory_limit, which replaces operator new and delete in the whole program,
/// libraries included, under every sanitizer. GoogleTest allocates, too: keep EXPECT out of the
/// scope, or behind the failure.
class memory_limit {
public:
  enum class whose : unsigned char { this_thread, any_thread };

  explicit memory_limit(std::size_t kth, whose counted = whose::this_thread);
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;
  ~memory_limit();

  /// The k-th allocation was asked for, and failed. Tells a test that tries every k when to end.
  [[nodiscard]] bool reached() const noexcept;
};

}  // namespace skua_test
