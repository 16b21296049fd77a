// skua/fs/watcher.hpp: tells what happens to files and in directories.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/task.hpp"
#include "skua/fs/watch_event.hpp"
#include "skua/io/descriptor.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::fs {

/// Watches paths (inotify), not what is beneath their directories:
///
///   fs::watcher changes = or_throw(fs::watcher::create());
///   or_throw(co_await changes.add("/etc", fs::watch_kind::written | fs::watch_kind::moved_to));
///   for (;;) use(co_await or_return(co_await changes.next()));
///
/// It waits in the driver and occupies no thread. add() and remove() are for any task, also while
/// another is in next(), which is for one at a time.
class [[gnu::visibility("default")]] watcher {
public:
  /// At once. std::errc::too_many_files_open: of the process, or watchers of this user. Throws
  /// std::bad_alloc.
  [[nodiscard]] static result<watcher> create();

  /// Watches what the path leads to, from now on. What is watched already, perhaps by another path,
  /// keeps its id and is watched for `what` instead. On a thread of the blocking pool. Errors: see
  /// skua/fs/operations.hpp; std::errc::no_space_on_device: watches of this user.
  [[nodiscard]] task<result<watch_id>> add(std::string path, watch_kind what = watch_kind::changes);
  /// Its last event says watch_event::is_end(); those before it still come. On a thread of the
  /// blocking pool. std::errc::invalid_argument if it is not watched.
  [[nodiscard]] task<result<void>> remove(watch_id which);

  /// Waits for the next event, in the order in which they happened; several that are equal may come
  /// as one. Stopped, or as the loser of a race, it loses none: the next call gives it. Throws
  /// std::bad_alloc.
  [[nodiscard]] task<result<watch_event>> next();
  /// The same as a stream without end, unless an error ends it. Borrows the watcher.
  [[nodiscard]] async_generator<result<watch_event>> events();

  /// The inotify descriptor, which is readable when there are events. It stays ours.
  [[nodiscard]] const io::descriptor& descriptor() const noexcept { return fd_; }

private:
  explicit watcher(unique_fd fd) : fd_(std::move(fd)), bytes_(capacity) {}
  [[nodiscard]] watch_event take();

  static constexpr std::size_t capacity = std::size_t{16} << 10;

  io::descriptor fd_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace skua::inline SKUA_ABI::fs
