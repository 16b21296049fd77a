// skua/fs/file.hpp: an open file.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/fs/file_info.hpp"
#include "skua/fs/open_options.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

struct iovec;

namespace skua::inline SKUA_ABI::fs {

/// Where seek() counts from.
enum class seek_from : unsigned char {
  start,     ///< the first byte
  position,  ///< where it is now
  end        ///< behind the last byte
};

/// Who else may lock a file meanwhile: nobody, or those who want to share it, too.
enum class lock_kind : unsigned char {
  exclusive,  ///< for one, to write
  shared      ///< for many, to read
};

/// Owns one open file. Everything that is awaited suspends, borrows its arguments and the file
/// until it has ended, and fails with what the kernel says, such as std::errc::io_error,
/// no_space_on_device, bad_file_descriptor (not opened for that). A stop of what a thread of the
/// kernel, or of the blocking pool, is already at takes effect when that has ended.
///
/// What takes an offset is for several tasks at once. There is one position, so what moves it is
/// for one task at a time.
///
/// Bytes that are in the kernel's cache are copied by the worker itself, in the call that hands
/// operations over. So that others are not kept waiting, no single read or write moves more than
/// `chunk` bytes; those that promise to move all of them go on by themselves.
class [[gnu::visibility("default")]] file {
public:
  /// How much copying and reading whole files does at a time.
  static constexpr std::size_t chunk = std::size_t{256} << 10;

  /// No file.
  file() = default;
  /// Takes in what is open already.
  explicit file(io::descriptor open) noexcept;
  /// The same for one that nobody counts operations on yet.
  explicit file(unique_fd open) noexcept;
  /// Not while anything is under way, which is checked. Moved from: no file.
  file(file&&) = default;
  /// Not while anything is under way, which is checked. What it had is closed, and may block for
  /// that.
  file& operator=(file&&) = default;
  ~file() = default;

  /// Opens, by default for reading. Fails with std::errc::invalid_argument for options that make no
  /// sense and for a path with a zero byte in it, and with no_such_file_or_directory,
  /// permission_denied, is_a_directory, not_a_directory, filename_too_long, file_exists... Stopped:
  /// nothing is open, but a file that was to be made may have been.
  [[nodiscard]] static task<result<file>> open(std::string path,
                                               open_options how = open_options().read());
  /// Opens for writing; makes the file, or empties it.
  [[nodiscard]] static task<result<file>> create(std::string path);

  /// It has a file that is open.
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

  // --- At an offset. Leaves the position alone.

  /// Reads some bytes, 0 at the end. Stopped: nothing was read.
  [[nodiscard]] io_operation<std::size_t> read_at(std::span<std::byte> into,
                                                  std::int64_t offset) const noexcept;
  /// Writes some bytes; opened for append, at the end. Stopped: nothing was written.
  [[nodiscard]] io_operation<std::size_t> write_at(std::span<const std::byte> from,
                                                   std::int64_t offset) const noexcept;
  /// The same to and from several buffers, in order; the caller keeps them within reason: these are
  /// not cut at `chunk`.
  [[nodiscard]] io_operation<std::size_t> readv_at(std::span<const iovec> into,
                                                   std::int64_t offset) const noexcept;
  /// The same for writing.
  [[nodiscard]] io_operation<std::size_t> writev_at(std::span<const iovec> from,
                                                    std::int64_t offset) const noexcept;
  /// Reads until there is no more room, or nothing left; gives how much. Stopped: what was read is
  /// in the buffer, but nobody says how much.
  [[nodiscard]] task<result<std::size_t>> read_full_at(std::span<std::byte> into,
                                                       std::int64_t offset) const;
  /// Writes everything. Stopped or failed: the first so many bytes were written, and nobody says
  /// how many.
  [[nodiscard]] task<result<void>> write_all_at(std::span<const std::byte> from,
                                                std::int64_t offset) const;

  // --- At the position, which moves on, and is this object's own: that of the kernel, which other
  // descriptors of the same open file share, is looked at when the file is taken in, and set when
  // it is given out. Pipes and the like have none. Opened for append, writing does not move it.

  /// Reads some bytes, 0 at the end. Stopped: nothing was read.
  [[nodiscard]] task<result<std::size_t>> read(std::span<std::byte> into);
  /// Writes some bytes. Stopped: nothing was written.
  [[nodiscard]] task<result<std::size_t>> write(std::span<const std::byte> from);
  /// As read(), into several rooms; the list is borrowed, too.
  [[nodiscard]] task<result<std::size_t>> readv(std::span<const iovec> into);
  /// As write(), from several pieces; the list is borrowed, too.
  [[nodiscard]] task<result<std::size_t>> writev(std::span<const iovec> from);
  /// Writes everything; see write_all_at(). The position is behind what was written.
  [[nodiscard]] task<result<void>> write_all(std::span<const std::byte> from);

  /// Moves the position and gives the new one, from the start. std::errc::invalid_seek for pipes
  /// and the like, invalid_argument for one before the start. From the end it takes a thread of the
  /// blocking pool: the file system may have to ask how long the file is.
  [[nodiscard]] task<result<std::int64_t>> seek(std::int64_t offset,
                                                seek_from from = seek_from::start);
  /// At once. std::errc::invalid_seek, too.
  [[nodiscard]] result<std::int64_t> position() const noexcept;

  // --- As a whole.

  /// Makes it so long, by cutting it off or with zeros.
  [[nodiscard]] io_operation<void> truncate(std::int64_t length) const noexcept;
  /// Everything that was written is on the device.
  [[nodiscard]] io_operation<void> sync_all() const noexcept;
  /// The same without what is not needed to read it again, such as times.
  [[nodiscard]] io_operation<void> sync_data() const noexcept;
  /// Reserves space for that part, so that writing there cannot find the device full; the file
  /// becomes longer if it ended before. std::errc::operation_not_supported by some file systems.
  [[nodiscard]] io_operation<void> allocate(std::int64_t offset,
                                            std::int64_t length) const noexcept;
  /// What the file system knows of it now, whatever its name is.
  [[nodiscard]] task<result<file_info>> metadata() const;
  /// 0644 and the like. On a thread of the blocking pool.
  [[nodiscard]] task<result<void>> set_permissions(std::uint32_t mode) const;

  // --- Locks, as flock(2) has them: advisory, of the whole file, for everybody who opened it by
  // itself, in this process too. The file that is open has the lock, so another kind replaces it,
  // closing gives it up. Each call takes a thread of the blocking pool for a moment.
  // Whoever asks for the other kind gives up the one that it has first, and is left with none if
  // that is refused: the kernel does both in two steps.

  /// Waits until it is locked. The kernel offers no wait that could be stopped: this asks again
  /// after 1, 2, 4 and at last every 32 ms, which takes no thread, but is not fair either. Stopped:
  /// not locked.
  [[nodiscard]] task<result<void>> lock(lock_kind kind = lock_kind::exclusive) const;
  /// True if it is locked now.
  [[nodiscard]] task<result<bool>> try_lock(lock_kind kind = lock_kind::exclusive) const;
  /// Gives the lock up; nothing if there is none.
  [[nodiscard]] task<result<void>> unlock() const;

  // --- The end.

  /// Closes, and says what the file system could not write; the destructor closes without a word,
  /// and may block. Once begun it is not stopped. Nothing may be under way.
  [[nodiscard]] io_operation<void> close() && noexcept;

  /// For what skua::io can do besides.
  [[nodiscard]] const io::descriptor& descriptor() const noexcept { return fd_; }
  /// The raw number; -1 if there is none. It stays ours.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  /// Gives the raw descriptor out: it is the caller's now.
  [[nodiscard]] unique_fd release() && noexcept;

private:
  static constexpr std::int64_t none = -1;

  void moved_by(std::size_t bytes) noexcept;

  io::descriptor fd_;
  std::int64_t position_ = none;
  bool appends_ = false;
};

}  // namespace skua::inline SKUA_ABI::fs
