// skua/sync/wait_group.hpp: how many are at work, for tasks that wait until none is.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/event.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

/// `add()` before something is started, `done()` when it has ended, and `co_await group.wait();`
/// goes on when as many are done as were added. It can be used again. Any task or thread may add
/// and count. Waiting allocates nothing.
///
/// Add before you start: what is added by the work itself may come after a wait has found nothing
/// to wait for. Stopping a task that waits changes nothing for the others.
class [[gnu::visibility("default")]] wait_group {
public:
  /// So many are at work.
  explicit wait_group(std::size_t count = 0) noexcept : count_(count), zero_(count == 0) {}

  /// So many more are at work.
  void add(std::size_t count = 1) noexcept;
  /// More than were added ends the program, and says so. Who has waited may destroy the group, even
  /// if this has not returned yet.
  void done(std::size_t count = 1) noexcept;

  /// How many are not done. May be out of date when it returns.
  [[nodiscard]] std::size_t count() noexcept;

  /// `co_await g.wait()` gives nothing. Once the count was 0 it goes on, whatever is added then.
  [[nodiscard]] event::waiting wait() noexcept { return zero_.wait(); }

private:
  std::size_t count_;  // under the lock of zero_
  event zero_;
};

}  // namespace skua::inline SKUA_ABI
