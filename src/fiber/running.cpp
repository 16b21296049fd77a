// src/fiber/running.cpp: what a thread knows of fibers: the one it runs, and its signal stack.
#include "fiber/running.hpp"

#include "fiber/signal_stack.hpp"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

namespace skua::inline SKUA_ABI::fiber {
namespace {

class signal_stack {
public:
  signal_stack() noexcept {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    void* const mapped =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    stack_t mine{};
    mine.ss_sp = mapped;
    mine.ss_size = size_;
    if (::sigaltstack(&mine, nullptr) == 0)
      memory_ = mapped;
    else
      ::munmap(mapped, size_);
  }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;
  ~signal_stack() {
    if (memory_ == nullptr) return;
    stack_t now{};
    const bool is_mine = ::sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory_;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (is_mine) ::sigaltstack(&none, nullptr);
    ::munmap(memory_, size_);
  }
  void touch() noexcept {}

private:
  // The kernel tells how much it needs itself, with all registers of this machine.
  const std::size_t size_ = std::max<std::size_t>(65'536, 4 * ::getauxval(AT_MINSIGSTKSZ));
  void* memory_ = nullptr;
};

}  // namespace

own_stack*& running_here() noexcept {
  static constinit thread_local own_stack* of_this_thread = nullptr;
  asm volatile("");  // so that calls cannot be merged, whatever else is known of this function
  return of_this_thread;
}

[[gnu::noinline]] void have_signal_stack() noexcept {
  static thread_local signal_stack of_this_thread;
  of_this_thread.touch();
}

}  // namespace skua::inline SKUA_ABI::fiber
