// skua/io/pipe.hpp: a pipe within the process, or to another one.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// The end that gives bytes. One task reads at a time; it stays where it is meanwhile.
class [[gnu::visibility("default")]] pipe_reader {
public:
  /// Takes the end of a pipe, or anything that can be read in the same way, raw.
  explicit pipe_reader(unique_fd fd) noexcept : end_(std::move(fd)) {}

  /// Suspends until there is something, and reads some of it; 0 when every writer has closed its
  /// end. Stopped: nothing was read.
  [[nodiscard]] io_operation<std::size_t> read(std::span<std::byte> into) const noexcept {
    return end_.read(into);
  }

  /// The raw number; it stays ours.
  [[nodiscard]] int get() const noexcept { return end_.get(); }
  /// See over_descriptor.hpp.
  [[nodiscard]] const descriptor& io_descriptor() const noexcept { return end_; }
  /// Gives the raw descriptor out.
  [[nodiscard]] unique_fd release() noexcept { return end_.release(); }

private:
  descriptor end_;
};

/// The end that takes bytes. One task writes at a time; it stays where it is meanwhile. Dropped, it
/// is closed, and the reader finds the end when it has read everything.
class [[gnu::visibility("default")]] pipe_writer {
public:
  /// Takes in an end that is open for writing.
  explicit pipe_writer(unique_fd fd) noexcept : end_(std::move(fd)) {}

  /// Suspends while the pipe is full, and writes some of the bytes, at least one unless there are
  /// none. Fails with std::errc::broken_pipe if nobody can read them any more, without a signal.
  /// Stopped: nothing was written.
  [[nodiscard]] io_operation<std::size_t> write(std::span<const std::byte> from) const noexcept {
    return end_.write(from);
  }
  /// Writes all of them. Stopped: some may have been written. Errors as write().
  [[nodiscard]] task<result<void>> write_all(std::span<const std::byte> from) const;

  /// The raw number; it stays ours.
  [[nodiscard]] int get() const noexcept { return end_.get(); }
  /// See over_descriptor.hpp.
  [[nodiscard]] const descriptor& io_descriptor() const noexcept { return end_; }
  /// Gives the raw descriptor out.
  [[nodiscard]] unique_fd release() noexcept { return end_.release(); }

private:
  descriptor end_;
};

/// What pipe() gives.
struct pipe_ends {
  /// Made by pipe().
  pipe_ends(pipe_reader out, pipe_writer in) noexcept
      : reader(std::move(out)), writer(std::move(in)) {}
  pipe_reader reader;  ///< gives what is written to the other
  pipe_writer writer;  ///< takes what is read from the other
};

/// Makes a pipe, with O_CLOEXEC. Does not suspend; from anywhere. Fails with
/// std::errc::too_many_files_open and its like.
[[nodiscard, gnu::visibility("default")]] result<pipe_ends> pipe() noexcept;

}  // namespace skua::inline SKUA_ABI::io
