// src/driver/fork_guard.cpp: get a page that a fork wipes, or do without.
#include "driver/fork_guard.hpp"

#include "skua/base/check.hpp"

#include <sys/mman.h>

#include <new>

namespace skua::inline SKUA_ABI {

fork_guard::fork_guard(method preferred) noexcept
    : owner_pid_(::getpid()), marker_(preferred == method::wiped_page ? wiped_page() : nullptr) {}

fork_guard::~fork_guard() {
  if (marker_ != nullptr) check(::munmap(marker_, sizeof *marker_) == 0, "the page was ours");
}

// The kernel rounds the length up to a page, in all three calls.
fork_guard::marker* fork_guard::wiped_page() noexcept {
  static_assert(marker::is_always_lock_free, "all bytes zero is the number zero");
  void* const page =
      ::mmap(nullptr, sizeof(marker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, sizeof(marker), MADV_WIPEONFORK) != 0) {
    check(::munmap(page, sizeof(marker)) == 0, "the page was ours");
    return nullptr;
  }
  return ::new (page) marker(in_owner);
}

}  // namespace skua::inline SKUA_ABI
