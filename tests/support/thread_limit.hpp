// tests/support/thread_limit.hpp: makes the creation of a thread fail when a test says so.
#pragma once

#include <cstddef>

namespace skua_test {

/// While it exists, the k-th thread from now on (counted from 1, whoever makes it: std::thread too)
/// is not created: pthread_create returns EAGAIN. All others are. One at a time.
///
/// Link with skua_thread_limit, which replaces pthread_create in the whole program, libraries
/// included. Works under every sanitizer, and needs neither a child process nor privileges.
class thread_limit {
public:
  explicit thread_limit(std::size_t kth);
  thread_limit(const thread_limit&) = delete;
  thread_limit& operator=(const thread_limit&) = delete;
  ~thread_limit();

  /// The k-th creation was asked for, and failed. Tells a test that tries every k when to end.
  [[nodiscard]] bool reached() const noexcept;
};

}  // namespace skua_test
