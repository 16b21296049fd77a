// skua/io/event_fd.hpp: a counter that other threads, processes and libraries can add to.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/descriptor.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// An eventfd(2): a number that is not negative, and a descriptor that is readable while it is not
/// zero. Within one process an auto_reset_event or a semaphore is cheaper; this is for those who
/// have a descriptor and no task. It stays where it is while somebody waits.
class [[gnu::visibility("default")]] event_fd {
public:
  /// With O_CLOEXEC and O_NONBLOCK. Does not suspend. Fails with std::errc::too_many_files_open and
  /// its like.
  [[nodiscard]] static result<event_fd> make(std::uint32_t initial = 0) noexcept;

  /// From any thread, also in a signal handler; never waits. Fails with
  /// std::errc::resource_unavailable_try_again if the number would become too large.
  result<void> add(std::uint64_t count = 1) const noexcept;

  /// Suspends while it is zero, and takes all of it. Any number of tasks may wait; one of them gets
  /// it. Stopped, or beaten in a race: nothing was taken.
  [[nodiscard]] task<result<std::uint64_t>> wait() const;
  /// Takes all of it, if it is not zero.
  [[nodiscard]] std::optional<std::uint64_t> try_wait() const noexcept;

  /// For others, who may write to it, read it or poll it. It stays ours.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }

private:
  explicit event_fd(descriptor fd) noexcept : fd_(std::move(fd)) {}

  descriptor fd_;
};

}  // namespace skua::inline SKUA_ABI::io
