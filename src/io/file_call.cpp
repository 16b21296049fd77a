// src/io/file_call.cpp: one function of the C library each.
#include "io/file_call.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace skua::inline SKUA_ABI::file_call {
namespace {

// Calls until no signal comes in between.
template <typename T, typename Call>
result<T> call(Call once) noexcept {
  for (;;) {
    const auto returned = once();
    if (returned >= 0) {
      if constexpr (std::is_void_v<T>)
        return {};
      else
        return T(returned);
    }
    if (errno != EINTR) return fail(error_from_errno(errno));
  }
}

identity identity_of(const struct stat& about) noexcept {
  return {.device = about.st_dev, .inode = about.st_ino, .mode = about.st_mode};
}

}  // namespace

result<unique_fd> open_at(int directory, const char* path, int flags, unsigned mode) noexcept {
  return call<unique_fd>([&] { return ::openat(directory, path, flags | O_CLOEXEC, mode); });
}

result<void> unlink_at(int directory, const char* path, int flags) noexcept {
  return call<void>([&] { return ::unlinkat(directory, path, flags); });
}

result<identity> identify(int fd) noexcept {
  struct stat about{};
  const auto seen = call<void>([&] { return ::fstat(fd, &about); });
  if (!seen) return fail(seen.error());
  return identity_of(about);
}

result<identity> identify_at(int directory, const char* path, bool follow) noexcept {
  struct stat about{};
  const int flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
  const auto seen = call<void>([&] { return ::fstatat(directory, path, &about, flags); });
  if (!seen) return fail(seen.error());
  return identity_of(about);
}

result<std::size_t> entries(int fd, std::span<std::byte> into) noexcept {
  return call<std::size_t>([&] { return ::getdents64(fd, into.data(), into.size()); });
}

result<std::int64_t> seek(int fd, std::int64_t offset, int whence) noexcept {
  return call<std::int64_t>([&] { return ::lseek(fd, offset, whence); });
}

result<int> flags_of(int fd) noexcept {
  return call<int>([&] { return ::fcntl(fd, F_GETFL); });
}

result<std::size_t> read_at(int fd, std::span<std::byte> into, std::int64_t offset) noexcept {
  return call<std::size_t>([&] { return ::pread(fd, into.data(), into.size(), offset); });
}

result<std::size_t> write_at(int fd, std::span<const std::byte> from,
                             std::int64_t offset) noexcept {
  return call<std::size_t>([&] { return ::pwrite(fd, from.data(), from.size(), offset); });
}

result<std::size_t> copy_range(int from, int to, std::int64_t offset, std::size_t length) noexcept {
  return call<std::size_t>([&] {
    off64_t read_at = offset;
    off64_t write_at = offset;
    return ::copy_file_range(from, &read_at, to, &write_at, length, 0);
  });
}

result<void> truncate(int fd, std::int64_t length) noexcept {
  return call<void>([&] { return ::ftruncate(fd, length); });
}

result<void> lock(int fd, int how) noexcept {
  return call<void>([&] { return ::flock(fd, how); });
}

result<void> change_mode(int fd, unsigned mode) noexcept {
  return call<void>([&] { return ::fchmod(fd, mode); });
}

result<void> change_mode_of(const char* path, unsigned mode) noexcept {
  return call<void>([&] { return ::chmod(path, mode); });
}

result<std::string> read_link(const char* path) {
  std::string into(256, '\0');
  for (;;) {
    const auto got = call<std::size_t>([&] { return ::readlink(path, into.data(), into.size()); });
    if (!got) return fail(got.error());
    if (*got < into.size()) {
      into.resize(*got);
      return into;
    }
    into.resize(into.size() * 2);  // perhaps there is more
  }
}

result<std::string> canonical(const char* path) {
  char* const found = ::realpath(path, nullptr);
  if (found == nullptr) return fail(error_from_errno(errno));
  struct freed {
    char* text;
    ~freed() { std::free(text); }
  } const owner{found};
  return std::string(found);
}

result<unique_fd> new_watcher() noexcept {
  return call<unique_fd>([] { return ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC); });
}

result<int> add_watch(int watcher, const char* path, std::uint32_t mask) noexcept {
  return call<int>([&] { return ::inotify_add_watch(watcher, path, mask); });
}

result<void> remove_watch(int watcher, int watch) noexcept {
  return call<void>([&] { return ::inotify_rm_watch(watcher, watch); });
}

std::uint64_t random_number() noexcept {
  std::uint64_t made = 0;
  const auto got = call<std::size_t>([&] { return ::getrandom(&made, sizeof made, 0); });
  check(got.has_value() && *got == sizeof made, "the kernel gives eight random bytes at once");
  return made;
}

}  // namespace skua::inline SKUA_ABI::file_call
