// skua/process/std_stream.hpp: the standard streams of this process, for tasks.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::process {

/// See stdin_stream(). One task reads at a time; it stays where it is meanwhile.
class std_reader {
public:
  /// Use stdin_stream().
  explicit std_reader(io::descriptor from) noexcept : from_(std::move(from)) {}

  /// Suspends until there is something, and reads some of it; 0 at the end. Stopped: nothing was
  /// read. For lines, `framed input(reader, framing::lines())`.
  [[nodiscard]] io_operation<std::size_t> read(std::span<std::byte> into) const noexcept {
    return from_.read(into);
  }
  /// See over_descriptor.hpp.
  [[nodiscard]] const io::descriptor& io_descriptor() const noexcept { return from_; }

private:
  io::descriptor from_;
};

/// See stdout_stream(). One task writes at a time; it stays where it is meanwhile.
class [[gnu::visibility("default")]] std_writer {
public:
  /// Use stdout_stream() or stderr_stream().
  explicit std_writer(io::descriptor to) noexcept : to_(std::move(to)) {}

  /// Suspends while there is no room, and writes some of the bytes. Fails with
  /// std::errc::broken_pipe if nobody reads them any more, without a signal. Stopped: nothing was
  /// written.
  [[nodiscard]] io_operation<std::size_t> write(std::span<const std::byte> from) const noexcept {
    return to_.write(from);
  }
  /// Writes all of them. Stopped: some may have been written.
  [[nodiscard]] task<result<void>> write_all(std::span<const std::byte> from) const;
  /// See over_descriptor.hpp.
  [[nodiscard]] const io::descriptor& io_descriptor() const noexcept { return to_; }

private:
  io::descriptor to_;
};

/// Standard input, for a task that reads: a terminal, a pipe, a file, whatever it is. Nobody else
/// who has it is affected: it is not made non-blocking (terminals are opened a second time), and
/// stays open when this is dropped. A read that waits for a key holds up no thread, and neither
/// the end of its task nor that of the runtime. What std::cin or stdio have buffered is not seen
/// here. Does not suspend. Costs a descriptor.
///
/// Fails with std::errc::bad_file_descriptor if the process has closed it,
/// std::errc::too_many_files_open and its like.
[[nodiscard, gnu::visibility("default")]] result<std_reader> stdin_stream() noexcept;

/// Standard output and error, in the same way. There is no buffer: what was written has been
/// handed to the system. What std::cout or stdio have buffered comes when they are flushed.
[[nodiscard, gnu::visibility("default")]] result<std_writer> stdout_stream() noexcept;
/// Standard error; see stdout_stream().
[[nodiscard, gnu::visibility("default")]] result<std_writer> stderr_stream() noexcept;

}  // namespace skua::inline SKUA_ABI::process
