// tests/support/fd_limit.hpp: makes the process run out of file descriptors when a test says so.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace skua_test {

/// While it exists, the process gets `more` descriptors beyond those it has, and then EMFILE. What
/// is open stays open. Nobody else opens or closes any while the limit is made. One at a time.
///
/// A descriptor that is closed meanwhile can be had again only if its number is below the limit:
/// true of those opened under the limit, and of all if there were no gaps in the numbers before.
///
/// Link with skua_fd_limit.
class fd_limit {
public:
  explicit fd_limit(std::size_t more = 0);
  fd_limit(const fd_limit&) = delete;
  fd_limit& operator=(const fd_limit&) = delete;
  ~fd_limit();

private:
  rlimit before_{};
};

}  // namespace skua_test
