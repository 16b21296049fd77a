// src/fiber/stack_slab.cpp: map, guard, unmap.
#include "fiber/stack_slab.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace skua::inline SKUA_ABI::fiber {
namespace {

constexpr int install_guard = 102;  // MADV_GUARD_INSTALL, newer than many C libraries

}  // namespace

std::size_t stack_slab::stacks_for(std::size_t stack_size) noexcept {
  return std::max(usual_size / (guard_size + stack_size), std::size_t{1});
}

stack_slab::stack_slab(std::size_t size, guard_kind kind)
    : stack_size(size), guard(kind), warm(stacks_for(size)) {
  unused.reserve(count());
  // The first is the lowest, and is used first.
  for (std::size_t i = count(); i > 0; --i) unused.push_back(static_cast<std::uint32_t>(i - 1));
  void* const mapped = ::mmap(nullptr, mapped_bytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "skua: no memory for fibers' stacks");
  memory = static_cast<std::byte*>(mapped);
  // A huge page would make one touched page take 2 MiB. Where there are none, this fails.
  static_cast<void>(::madvise(memory, mapped_bytes(), MADV_NOHUGEPAGE));
  try {
    put_guards();
  } catch (...) {
    ::munmap(memory, mapped_bytes());
    throw;
  }
}

stack_slab::~stack_slab() {
  ::munmap(memory, mapped_bytes());
}

int stack_slab::put_guard(std::byte* below) noexcept {
  if (guard == guard_kind::none) return 0;
  const int answer = guard == guard_kind::marker ? ::madvise(below, guard_size, install_guard)
                                                 : ::mprotect(below, guard_size, PROT_NONE);
  return answer == 0 ? 0 : errno;
}

void stack_slab::put_guards() {
  for (std::size_t i = 0; i < count(); ++i) {
    if (const int error = put_guard(memory + (i * (guard_size + stack_size))); error != 0)
      throw std::system_error(error, std::generic_category(),
                              "skua: a fiber's stack cannot be guarded (see vm.max_map_count)");
  }
}

stack stack_slab::at(std::uint32_t index) noexcept {
  stack one;
  one.lowest = memory + (index * (guard_size + stack_size)) + guard_size;
  one.size = stack_size;
  one.guard_size = guard == guard_kind::none ? 0 : guard_size;
  one.slab = this;
  return one;
}

std::uint32_t stack_slab::index_of(const stack& one) const noexcept {
  const auto from_start = static_cast<std::size_t>(one.lowest - memory);
  return static_cast<std::uint32_t>(from_start / (guard_size + stack_size));
}

void stack_slab::cool(const stack& one) noexcept {
  static_cast<void>(::madvise(one.lowest, one.size, MADV_DONTNEED));
}

}  // namespace skua::inline SKUA_ABI::fiber
