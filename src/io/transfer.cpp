// src/io/transfer.cpp: splice, or copy_file_range, or neither.
#include "skua/io/transfer.hpp"

#include "skua/base/error.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/stream.hpp"
#include "skua/io/wait.hpp"
#include "skua/io/write_all.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::io {
namespace {

constexpr std::size_t pipe_load = std::size_t{1} << 20;  // bytes, or what the pipe holds
constexpr std::size_t file_load = std::size_t{8} << 20;  // bytes, until a stop is noticed

enum class kind : unsigned char { other, file, pipe, socket };

// A socket that blocks is left alone. To splice into one waits in a thread of the kernel's as soon
// as there is room for some of the bytes and not for all, whatever SPLICE_F_NONBLOCK says; and to
// change it is not for us: somebody else may share it, as a standard stream.
bool is_nonblocking_stream(int fd) noexcept {
  int type = 0;
  socklen_t length = sizeof type;
  const int flags = ::fcntl(fd, F_GETFL);
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM &&
         flags >= 0 && (flags & O_NONBLOCK) != 0;
}

kind kind_of(int fd) noexcept {
  struct ::stat about = {};
  if (::fstat(fd, &about) != 0) return kind::other;
  if (S_ISREG(about.st_mode)) return kind::file;
  if (S_ISFIFO(about.st_mode)) return kind::pipe;
  return S_ISSOCK(about.st_mode) && is_nonblocking_stream(fd) ? kind::socket : kind::other;
}

// Another way may do.
bool is_refusal(std::error_code why) noexcept {
  return why == std::errc::invalid_argument || why == std::errc::cross_device_link ||
         why == std::errc::function_not_supported || why == std::errc::operation_not_supported ||
         why == std::errc::bad_file_descriptor;
}

/// One end of a transfer.
class end_point {
public:
  explicit end_point(const descriptor& of) noexcept : end_point(of, kind_of(of.get())) {}
  /// One that has what it takes, whenever it is used.
  static end_point always_ready(const descriptor& of) noexcept { return {of, kind::other}; }
  [[nodiscard]] int number() const noexcept { return of_.get(); }
  [[nodiscard]] const descriptor& get() const noexcept { return of_; }
  [[nodiscard]] bool is(kind what) const noexcept { return kind_ == what; }
  /// Files are always ready.
  [[nodiscard]] bool can_wait() const noexcept { return is(kind::pipe) || is(kind::socket); }

private:
  end_point(const descriptor& of, kind what) noexcept : of_(of), kind_(what) {}

  const descriptor& of_;
  kind kind_;
};

// A splice waits in a thread of the kernel's; a poll does not.
task<result<std::size_t>> splice_when_ready(const end_point& from, const end_point& to,
                                            std::size_t length) {
  for (;;) {
    if (from.can_wait()) {
      const auto ready = co_await poll_fd(from.get(), POLLIN);
      if (!ready.has_value()) co_return fail(ready.error());
    }
    if (to.can_wait()) {
      const auto ready = co_await poll_fd(to.get(), POLLOUT);
      if (!ready.has_value()) co_return fail(ready.error());
    }
    const result<std::size_t> moved = co_await io::splice(from.number(), at_position, to.number(),
                                                          at_position, length, SPLICE_F_NONBLOCK);
    if (moved.has_value() || moved.error() != std::errc::resource_unavailable_try_again)
      co_return moved;
  }
}

/// What comes from a splice that may be refused.
result<transferred> stopped_short(std::uint64_t moved, std::error_code why) noexcept {
  if (is_refusal(why)) return transferred(moved, false);
  return fail(why);
}

// One of them is a pipe.
task<result<transferred>> splice_all(const end_point& from, const end_point& to) {
  std::uint64_t moved = 0;
  for (;;) {
    const result<std::size_t> some = co_await splice_when_ready(from, to, pipe_load);
    if (!some.has_value()) co_return stopped_short(moved, some.error());
    if (*some == 0) co_return transferred(moved, true);
    moved += *some;
  }
}

/// A pipe of our own. A large one makes up for the threads that splices of files go through. Not
/// for sockets: a user has some 1,000 pipes of the usual size before the system makes them tiny.
class middle {
public:
  explicit middle(bool large) noexcept {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
    out_ = descriptor(unique_fd(ends[0]));
    in_ = descriptor(unique_fd(ends[1]));
    if (large) (void)::fcntl(ends[1], F_SETPIPE_SZ, large_size);
  }
  [[nodiscard]] bool exists() const noexcept { return static_cast<bool>(in_); }
  [[nodiscard]] const descriptor& in() const noexcept { return in_; }
  [[nodiscard]] const descriptor& out() const noexcept { return out_; }

private:
  static constexpr int large_size = 262'144;

  descriptor in_;
  descriptor out_;
};

// What is in the pipe, when the target does not take it from there.
task<result<void>> empty_by_hand(const descriptor& from, const descriptor& to, std::size_t length) {
  std::vector<std::byte> buffer(length);
  std::size_t got = 0;
  while (got < length) {
    const result<std::size_t> some = co_await from.read(std::span(buffer).subspan(got));
    if (!some.has_value()) co_return fail(some.error());
    got += *some;
  }
  co_return co_await io::write_all(to, std::span<const std::byte>(buffer));
}

// A pipe that waits for nothing: all of `length` is inside, and goes out.
task<result<transferred>> empty_pipe(const end_point& from, const end_point& to,
                                     std::size_t length) {
  std::size_t left = length;
  while (left > 0) {
    const result<std::size_t> some = co_await splice_when_ready(from, to, left);
    if (some.has_value()) {
      left -= *some;
      continue;
    }
    if (!is_refusal(some.error())) co_return fail(some.error());
    const result<void> done = co_await empty_by_hand(from.get(), to.get(), left);
    if (!done.has_value()) co_return fail(done.error());
    co_return transferred(length, false);
  }
  co_return transferred(length, true);
}

task<result<transferred>> splice_through_pipe(const end_point& from, const end_point& to) {
  const middle own(from.is(kind::file) || to.is(kind::file));
  if (!own.exists()) co_return transferred(0, false);
  const auto in = end_point::always_ready(own.in());
  const auto out = end_point::always_ready(own.out());
  std::uint64_t moved = 0;
  for (;;) {
    const result<std::size_t> some = co_await splice_when_ready(from, in, pipe_load);
    if (!some.has_value()) co_return stopped_short(moved, some.error());
    if (*some == 0) co_return transferred(moved, true);
    const result<transferred> out_again = co_await empty_pipe(out, to, *some);
    if (!out_again.has_value()) co_return fail(out_again.error());
    moved += *some;
    if (!out_again->at_end()) co_return transferred(moved, false);
  }
}

std::int64_t copy_file_bytes(int from, int to, std::size_t length) noexcept {
  for (;;) {
    const ssize_t moved = ::copy_file_range(from, nullptr, to, nullptr, length, 0);
    if (moved >= 0) return moved;
    if (errno != EINTR) return -errno;
  }
}

// Some files (those of /proc, for one) seem empty here: at the end, somebody else looks again.
task<result<transferred>> copy_file(int from, int to) {
  std::uint64_t moved = 0;
  for (;;) {
    const std::int64_t some = co_await spawn_blocking(copy_file_bytes, from, to, file_load);
    if (some == 0) co_return transferred(moved, false);
    if (some < 0) co_return stopped_short(moved, error_from_errno(static_cast<int>(-some)));
    moved += static_cast<std::uint64_t>(some);
  }
}

}  // namespace

task<result<transferred>> transfer(const descriptor& from, const descriptor& to) {
  const end_point source(from);
  const end_point target(to);
  if (source.is(kind::other) || target.is(kind::other)) co_return transferred(0, false);
  if (source.is(kind::file) && target.is(kind::file))
    co_return co_await copy_file(from.get(), to.get());
  if (source.is(kind::pipe) || target.is(kind::pipe)) co_return co_await splice_all(source, target);
  co_return co_await splice_through_pipe(source, target);
}

}  // namespace skua::inline SKUA_ABI::io
