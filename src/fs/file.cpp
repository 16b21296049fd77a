// src/fs/file.cpp: an open file, through the driver or the blocking pool.
#include "skua/fs/file.hpp"

#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"
#include "io/file_call.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/yield.hpp"
#include "skua/io/file.hpp"
#include "skua/io/stream.hpp"
#include "skua/time/sleep.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace skua::inline SKUA_ABI::fs {
namespace {

template <typename Byte>
std::span<Byte> some_of(std::span<Byte> all) noexcept {
  return all.first(std::min(all.size(), file::chunk));
}

/// For the kernel -1 is the position of the open file. Here it is as wrong as any other below zero.
std::int64_t not_position(std::int64_t offset) noexcept {
  return offset == io::at_position ? std::numeric_limits<std::int64_t>::min() : offset;
}

result<bool> try_to_lock(int fd, int how) noexcept {
  const auto locked = file_call::lock(fd, how | LOCK_NB);
  if (locked) return true;
  if (locked.error() == std::errc::operation_would_block) return false;
  return fail(locked.error());
}

}  // namespace

file::file(io::descriptor open) noexcept
    : fd_(std::move(open)),
      position_(file_call::seek(fd_.get(), 0, SEEK_CUR).value_or(none)),
      appends_((file_call::flags_of(fd_.get()).value_or(0) & O_APPEND) != 0) {}

file::file(unique_fd open) noexcept : file(io::descriptor(std::move(open))) {}

task<result<file>> file::open(std::string path, open_options how) {
  co_await or_return(checked(path));
  const int flags = co_await or_return(how.to_flags());
  co_return file(co_await or_return(co_await io::open(path.c_str(), flags, how.permissions())));
}

task<result<file>> file::create(std::string path) {
  return open(std::move(path), open_options().write().create().truncate());
}

io_operation<std::size_t> file::read_at(std::span<std::byte> into,
                                        std::int64_t offset) const noexcept {
  return io::read(fd_, some_of(into), not_position(offset));
}

io_operation<std::size_t> file::write_at(std::span<const std::byte> from,
                                         std::int64_t offset) const noexcept {
  return io::write(fd_, some_of(from), not_position(offset));
}

io_operation<std::size_t> file::readv_at(std::span<const iovec> into,
                                         std::int64_t offset) const noexcept {
  return io::readv(fd_, into, not_position(offset));
}

io_operation<std::size_t> file::writev_at(std::span<const iovec> from,
                                          std::int64_t offset) const noexcept {
  return io::writev(fd_, from, not_position(offset));
}

task<result<std::size_t>> file::read_full_at(std::span<std::byte> into, std::int64_t offset) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto at = offset + static_cast<std::int64_t>(done);
    const std::size_t got = co_await or_return(co_await read_at(into.subspan(done), at));
    if (got == 0) break;
    done += got;
  }
  co_return done;
}

task<result<void>> file::write_all_at(std::span<const std::byte> from, std::int64_t offset) const {
  while (!from.empty()) {
    const std::size_t put = co_await or_return(co_await write_at(from, offset));
    if (put == 0) co_return fail(std::errc::io_error);
    from = from.subspan(put);
    offset += static_cast<std::int64_t>(put);
  }
  co_return {};
}

// Not at the kernel's position: through io_uring, a write that ends early because the device is
// full says so, but leaves that where it was, and the next one would write over the first.
task<result<std::size_t>> file::read(std::span<std::byte> into) {
  const std::size_t got = co_await or_return(co_await io::read(fd_, some_of(into), position_));
  moved_by(got);
  co_return got;
}

task<result<std::size_t>> file::write(std::span<const std::byte> from) {
  const std::size_t put = co_await or_return(co_await io::write(fd_, some_of(from), position_));
  if (!appends_) moved_by(put);
  co_return put;
}

task<result<std::size_t>> file::readv(std::span<const iovec> into) {
  const std::size_t got = co_await or_return(co_await io::readv(fd_, into, position_));
  moved_by(got);
  co_return got;
}

task<result<std::size_t>> file::writev(std::span<const iovec> from) {
  const std::size_t put = co_await or_return(co_await io::writev(fd_, from, position_));
  if (!appends_) moved_by(put);
  co_return put;
}

task<result<void>> file::write_all(std::span<const std::byte> from) {
  while (!from.empty()) {
    const std::size_t put = co_await or_return(co_await write(from));
    if (put == 0) co_return fail(std::errc::io_error);
    from = from.subspan(put);
  }
  co_return {};
}

void file::moved_by(std::size_t bytes) noexcept {
  if (position_ != none) position_ += static_cast<std::int64_t>(bytes);
}

task<result<std::int64_t>> file::seek(std::int64_t offset, seek_from from) {
  std::int64_t base = co_await or_return(position());
  if (from == seek_from::start) base = 0;
  if (from == seek_from::end)
    base = co_await or_return(co_await in_pool(file_call::seek, get(), 0, SEEK_END));
  std::int64_t sum = 0;
  if (__builtin_add_overflow(base, offset, &sum) || sum < 0)
    co_return fail(std::errc::invalid_argument);
  position_ = sum;
  co_return sum;
}

result<std::int64_t> file::position() const noexcept {
  if (!fd_) return fail(std::errc::bad_file_descriptor);
  if (position_ == none) return fail(std::errc::invalid_seek);
  return position_;
}

io_operation<void> file::truncate(std::int64_t length) const noexcept {
  return io::ftruncate(fd_, length);
}

io_operation<void> file::sync_all() const noexcept {
  return io::fsync(fd_);
}

io_operation<void> file::sync_data() const noexcept {
  return io::fdatasync(fd_);
}

io_operation<void> file::allocate(std::int64_t offset, std::int64_t length) const noexcept {
  return io::fallocate(fd_, 0, offset, length);
}

task<result<file_info>> file::metadata() const {
  struct ::statx about{};
  co_await or_return(
      co_await io::statx("", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, about, get()));
  co_return file_info(about);
}

task<result<void>> file::set_permissions(std::uint32_t mode) const {
  return in_pool(file_call::change_mode, get(), mode);
}

task<result<bool>> file::try_lock(lock_kind kind) const {
  return in_pool(try_to_lock, get(), kind == lock_kind::shared ? LOCK_SH : LOCK_EX);
}

task<result<void>> file::unlock() const {
  return in_pool(file_call::lock, get(), LOCK_UN);
}

task<result<void>> file::lock(lock_kind kind) const {
  constexpr std::int64_t millisecond = 1'000'000;
  for (std::int64_t pause = millisecond;; pause = std::min(pause * 2, 32 * millisecond)) {
    const bool locked = co_await or_return(co_await try_lock(kind));
    if (!locked) {
      co_await sleep(time_span::of_nanoseconds(pause));
      continue;
    }
    const bool unwanted = co_await stop_requested();
    if (!unwanted) co_return {};
    co_await shielded(unlock());
    co_await yield();  // which unwinds
  }
}

unique_fd file::release() && noexcept {
  if (position_ != none) (void)file_call::seek(get(), position_, SEEK_SET);
  return fd_.release();
}

io_operation<void> file::close() && noexcept {
  return fd_.close();
}

}  // namespace skua::inline SKUA_ABI::fs
