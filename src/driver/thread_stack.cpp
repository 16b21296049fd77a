// src/driver/thread_stack.cpp: a queued signal carries the address to write to.
#include "driver/thread_stack.hpp"

#include "skua/base/sanitizer.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace skua::inline SKUA_ABI {
namespace {

constexpr int tries = 100;
constexpr timespec between_tries{.tv_sec = 0, .tv_nsec = 100'000};

}  // namespace

int thread_stack::install(int signal) noexcept {
  void* warm_up[1];
  ::backtrace(warm_up, 1);  // loads what it needs now: in a handler it must not
  struct sigaction how{};
  how.sa_sigaction = [](int number, siginfo_t* info, void* context) {
    answer(number, info, context);
  };
  how.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&how.sa_mask);
  return ::sigaction(signal, &how, nullptr) == 0 ? 0 : errno;
}

std::int32_t thread_stack::this_thread() noexcept {
  return static_cast<std::int32_t>(::syscall(SYS_gettid));
}

void thread_stack::answer(int, void* info, void*) noexcept {
  const auto* const sent = static_cast<const siginfo_t*>(info);
  if (sent->si_code != SI_QUEUE || sent->si_pid != ::getpid()) return;
  const int error = errno;
  auto& self = *static_cast<thread_stack*>(sent->si_value.sival_ptr);
  tsan_acquire(&self);  // its address came through the kernel
  state seen = state::asked;
  // order: [stack.ask] acquire: the object itself.
  if (self.state_.compare_exchange_strong(seen, state::writing, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
    self.count_ = ::backtrace(self.frames_.data(), static_cast<int>(depth_max));
    // order: [stack.answer] release: the frames.
    self.state_.store(state::written, std::memory_order_release);
  }
  errno = error;
}

std::span<void* const> thread_stack::of(std::int32_t thread, int signal) noexcept {
  // order: [stack.ask] release: the object, to the thread that answers.
  state_.store(state::asked, std::memory_order_release);
  tsan_release(this);
  siginfo_t what{};
  what.si_code = SI_QUEUE;
  what.si_pid = ::getpid();
  what.si_uid = ::getuid();
  what.si_value.sival_ptr = this;
  if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, signal, &what) != 0) return {};
  for (int i = 0; i < tries; ++i) {
    // order: [stack.answer] acquire: the frames.
    if (state_.load(std::memory_order_acquire) == state::written)
      return std::span(frames_).first(static_cast<std::size_t>(count_));
    ::nanosleep(&between_tries, nullptr);
  }
  state seen = state::asked;
  // Late answers are ignored; one that has begun ends soon.
  // order: none; nothing is read.
  if (state_.compare_exchange_strong(seen, state::idle, std::memory_order_relaxed)) return {};
  // order: [stack.answer] acquire: the frames.
  while (state_.load(std::memory_order_acquire) != state::written)
    ::nanosleep(&between_tries, nullptr);
  return std::span(frames_).first(static_cast<std::size_t>(count_));
}

}  // namespace skua::inline SKUA_ABI
