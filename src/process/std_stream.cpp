// src/process/std_stream.cpp: copies of the standard streams that disturb nobody.
#include "skua/process/std_stream.hpp"

#include "skua/base/error.hpp"
#include "skua/driver/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace skua::inline SKUA_ABI::process {
namespace {

// O_NONBLOCK belongs to the open file, which others share: the shell, a child, stdio. A terminal
// has no way to be read without waiting but that flag; opened once more it is a file of its own.
unique_fd opened_again(int number, int access) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", number);
  return unique_fd(::open(path.data(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

// All else can be asked not to wait, each time, or never waits for long.
result<io::descriptor> copy_of(int number, int access) noexcept {
  unique_fd made;
  if (::isatty(number) == 1) made = opened_again(number, access);
  if (!made) made.reset(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!made) return fail(error_from_errno(errno));
  return io::descriptor(std::move(made));
}

result<std_writer> writer_to(int number) noexcept {
  result<io::descriptor> made = copy_of(number, O_WRONLY);
  if (!made.has_value()) return fail(made.error());
  return std_writer(std::move(*made));
}

}  // namespace

task<result<void>> std_writer::write_all(std::span<const std::byte> from) const {
  while (!from.empty()) {
    const result<std::size_t> wrote = co_await to_.write(from);
    if (!wrote.has_value()) co_return fail(wrote.error());
    from = from.subspan(*wrote);
  }
  co_return {};
}

result<std_reader> stdin_stream() noexcept {
  result<io::descriptor> made = copy_of(STDIN_FILENO, O_RDONLY);
  if (!made.has_value()) return fail(made.error());
  return std_reader(std::move(*made));
}

result<std_writer> stdout_stream() noexcept {
  return writer_to(STDOUT_FILENO);
}

result<std_writer> stderr_stream() noexcept {
  return writer_to(STDERR_FILENO);
}

}  // namespace skua::inline SKUA_ABI::process
