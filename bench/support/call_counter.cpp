// bench/support/call_counter.cpp: a tracepoint's counter, by perf_event_open(2).
#include "support/call_counter.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace {

using skua::unique_fd;

// The files of the tracer, wherever they are mounted, or if they are not.
std::expected<unique_fd, int> tracer_files() {
  const unique_fd context(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (!context) return std::unexpected(errno);
  if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return std::unexpected(errno);
  unique_fd mounted(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!mounted) return std::unexpected(errno);
  return mounted;
}

std::expected<std::uint64_t, int> tracepoint() {
  const auto files = tracer_files();
  if (!files) return std::unexpected(files.error());
  const unique_fd file(::openat(files->get(), "events/raw_syscalls/sys_enter/id", O_RDONLY));
  if (!file) return std::unexpected(errno);
  char text[32];
  const ssize_t length = ::read(file.get(), text, sizeof text);
  std::uint64_t number = 0;
  if (length <= 0 || std::from_chars(text, text + length, number).ec != std::errc())
    return std::unexpected(EIO);
  return number;
}

}  // namespace

std::expected<call_counter, int> call_counter::for_this_thread() {
  const auto number = tracepoint();
  if (!number) return std::unexpected(number.error());
  perf_event_attr what{};
  what.type = PERF_TYPE_TRACEPOINT;
  what.size = sizeof what;
  what.config = *number;
  what.disabled = 1;
  unique_fd made(
      static_cast<int>(::syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!made) return std::unexpected(errno);
  return call_counter(std::move(made));
}

void call_counter::start() const {
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_RESET, 0) != 0 ||
      ::ioctl(fd_.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
    std::abort();
}

std::uint64_t call_counter::stop() const {
  std::uint64_t count = 0;
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0) != 0 ||
      ::read(fd_.get(), &count, sizeof count) != sizeof count)
    std::abort();
  return count;
}
