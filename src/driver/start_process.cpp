// src/driver/start_process.cpp: what runs between the clone and the exec, in memory that is shared.
#include "driver/start_process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>

extern "C" {
// The C library's other name for clone(2). ThreadSanitizer takes over the plain one, and then does
// to our memory what it does to that of a forked child, which has its own.
int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);  // NOLINT
#include <sys/pidfd.h>
}

namespace skua::inline SKUA_ABI {
namespace {

// The child shares our memory, also that of the C library and of sanitizers, which know nothing of
// it. So it calls the kernel and nothing else: setuid() of the C library would signal our threads,
// and sigaction() under a sanitizer would change what we are believed to handle. It sets errno,
// which is that of the calling thread, which stands still.

constexpr int signal_count = 64;  // the kernel's
constexpr std::size_t mask_size = signal_count / 8;
constexpr int first_above_streams = STDERR_FILENO + 1;
constexpr std::size_t stack_size = 65'536;

/// The kernel's struct sigaction: the handler comes first, and no architecture needs more.
struct kernel_action {
  std::uintptr_t handler;
  std::array<std::uint64_t, 7> rest;
};

struct order {
  const process_plan& plan;
  int descriptors_max;
  int error = 0;
  process_step at = process_step::descriptors;
};

[[gnu::always_inline]] inline bool failed(long returned) noexcept {
  return returned < 0;
}

// For kernels before 5.11.
[[gnu::always_inline]] inline void mark_one_by_one(int end) noexcept {
  for (int fd = first_above_streams; fd < end; ++fd) ::syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
}

// What lies where another is to be is moved out of the way first. All copies are closed by exec.
[[gnu::always_inline]] inline bool place_descriptors(const order& given) noexcept {
  const std::span<process_plan::descriptor> all = given.plan.descriptors;
  int highest = STDERR_FILENO;
  for (const auto& one : all) highest = one.to > highest ? one.to : highest;
  for (auto& one : all) {
    if (one.from > highest) continue;
    const long copy = ::syscall(SYS_fcntl, one.from, F_DUPFD_CLOEXEC, highest + 1);
    if (failed(copy)) return false;
    one.from = static_cast<int>(copy);
  }
  if (given.plan.closes_others &&
      failed(::syscall(SYS_close_range, first_above_streams, ~0U, CLOSE_RANGE_CLOEXEC)))
    mark_one_by_one(given.descriptors_max);
  for (const auto& one : all)
    if (failed(::syscall(SYS_dup3, one.from, one.to, 0))) return false;
  return true;
}

[[gnu::always_inline]] inline bool set_group(const process_plan& plan) noexcept {
  if (plan.new_session && failed(::syscall(SYS_setsid))) return false;
  if (plan.new_session && plan.group == 0) return true;  // it leads one already
  return !plan.group || !failed(::syscall(SYS_setpgid, 0, *plan.group));
}

[[gnu::always_inline]] inline bool set_identity(const process_plan& plan) noexcept {
  if (plan.groups && failed(::syscall(SYS_setgroups, plan.groups->size(), plan.groups->data())))
    return false;
  if (plan.gid && failed(::syscall(SYS_setgid, *plan.gid))) return false;
  return !plan.uid || !failed(::syscall(SYS_setuid, *plan.uid));
}

// Everything is blocked up to here, so that no handler runs; and from here on there is none.
[[gnu::always_inline]] inline void set_signals() noexcept {
  constexpr std::uintptr_t is_default = 0;
  constexpr std::uintptr_t is_ignored = 1;
  const kernel_action initial{};
  for (int number = 1; number <= signal_count; ++number) {
    kernel_action now{};
    if (failed(::syscall(SYS_rt_sigaction, number, nullptr, &now, mask_size))) continue;
    if (now.handler == is_default) continue;
    if (now.handler == is_ignored && number != SIGPIPE) continue;
    ::syscall(SYS_rt_sigaction, number, &initial, nullptr, mask_size);
  }
  const std::uint64_t nothing = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, mask_size);
}

// Returns only if none could be executed. A program that is there but may not be executed is worth
// more of a message than that the next directory has none.
[[gnu::always_inline]] inline int execute(const process_plan& plan) noexcept {
  bool denied = false;
  for (const char* const path : plan.candidates) {
    ::syscall(SYS_execve, path, plan.arguments, plan.environment);
    const int error = errno;
    if (error == EACCES)
      denied = true;
    else if (error != ENOENT && error != ENOTDIR)
      return error;
  }
  return denied ? EACCES : ENOENT;
}

[[gnu::always_inline]] inline int prepare_and_execute(order& given) noexcept {
  const process_plan& plan = given.plan;
  if (!place_descriptors(given)) return errno;
  given.at = process_step::group;
  if (!set_group(plan)) return errno;
  given.at = process_step::identity;
  if (!set_identity(plan)) return errno;
  if (plan.mask) ::syscall(SYS_umask, *plan.mask);
  given.at = process_step::directory;
  if (plan.directory != nullptr && failed(::syscall(SYS_chdir, plan.directory))) return errno;
  given.at = process_step::program;
  set_signals();
  return execute(plan);
}

[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] int run_child(void* argument) noexcept {
  order& given = *static_cast<order*>(argument);
  given.error = prepare_and_execute(given);
  return 127;
}

int descriptors_max() noexcept {
  constexpr rlim_t most = 65'536;  // what a process without a limit is believed to have
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  return static_cast<int>(std::min(limit.rlim_cur, most));
}

/// All signals, also those that the C library keeps for itself.
class signals_held {
public:
  signals_held() noexcept {
    const std::uint64_t all = ~std::uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, mask_size);
  }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;
  ~signals_held() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, mask_size); }

private:
  std::uint64_t before_ = 0;
};

/// A child that becomes another user does so in our memory, for which the kernel then forbids core
/// dumps and tracing; afterwards it is again as it was.
class memory_of_ours {
public:
  explicit memory_of_ours(const process_plan& plan) noexcept
      : hold_(one_at_a_time, std::defer_lock) {
    if (!plan.uid && !plan.gid) return;
    hold_.lock();
    before_ = ::prctl(PR_GET_DUMPABLE);
  }
  memory_of_ours(const memory_of_ours&) = delete;
  memory_of_ours& operator=(const memory_of_ours&) = delete;
  ~memory_of_ours() {
    if (before_ == may_be_dumped) ::prctl(PR_SET_DUMPABLE, may_be_dumped);
  }

private:
  static constexpr int may_be_dumped = 1;
  static constinit std::mutex one_at_a_time;  // who looks while another's child is at it

  std::unique_lock<std::mutex> hold_;
  int before_ = 0;
};
constinit std::mutex memory_of_ours::one_at_a_time;

pid_t clone_and_wait(order& given, std::byte* stack, int& pidfd) noexcept {
  const signals_held hold;
  constexpr int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
  std::byte* const top = stack + stack_size;
  const pid_t id = ::__clone(run_child, top, flags | CLONE_PIDFD, &given, &pidfd);
  if (id >= 0 || errno != EINVAL) return id;
  return ::__clone(run_child, top, flags, &given);
}

}  // namespace

started_process start_process(const process_plan& plan) noexcept {
  started_process made;
  void* const stack = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) {
    made.error = errno;
    return made;
  }
  order given{.plan = plan, .descriptors_max = descriptors_max()};
  int pidfd = -1;
  int no_child = 0;
  {
    const memory_of_ours stays(plan);
    made.id = clone_and_wait(given, static_cast<std::byte*>(stack), pidfd);
    no_child = errno;
  }
  made.error = made.id < 0 ? no_child : given.error;
  if (made.id >= 0) made.failed_at = given.at;
  ::munmap(stack, stack_size);

  made.pidfd.reset(pidfd);
  if (made.error == 0) {
    if (!made.pidfd) made.pidfd.reset(::pidfd_open(made.id, 0));
  } else if (made.id >= 0) {  // it has ended, or is about to
    while (::waitpid(made.id, nullptr, 0) < 0 && errno == EINTR) continue;
    made.id = -1;
    made.pidfd.reset();
  }
  return made;
}

}  // namespace skua::inline SKUA_ABI
