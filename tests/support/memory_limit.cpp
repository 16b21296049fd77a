// tests/support/memory_limit.cpp: operator new and delete on malloc, one of which may fail.
#include "support/memory_limit.hpp"

#include "skua/base/check.hpp"
#include "support/countdown.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constinit skua_test::countdown allocations;
constinit std::atomic<bool> only_one_thread = false;
constinit std::atomic<pthread_t> the_thread{};

bool fails_now() noexcept {
  if (!allocations.running()) return false;
  if (only_one_thread && pthread_equal(the_thread, pthread_self()) == 0) return false;
  return allocations.hit();
}

// Not std::aligned_alloc, where AddressSanitizer wants the size to be a multiple of the alignment.
void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  if (fails_now()) return nullptr;
  const std::size_t align = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  void* block = nullptr;
  return posix_memalign(&block, align, size) == 0 ? block : nullptr;
}

void* allocate(std::size_t size) noexcept {
  return fails_now() ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
}

void* or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

// All forms, since those of a sanitizer would not call ours.
void* operator new(std::size_t size) {
  return or_throw(allocate(size));
}
void* operator new[](std::size_t size) {
  return or_throw(allocate(size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t a) {
  return or_throw(allocate(size, a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return or_throw(allocate(size, a));
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, a);
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, a);
}

void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(block);
}

namespace skua_test {

memory_limit::memory_limit(std::size_t kth, whose counted) {
  skua::check(kth > 0, "allocations are counted from one");
  skua::check(!allocations.running(), "there is one memory limit at a time");
  the_thread = pthread_self();
  only_one_thread = counted == whose::this_thread;
  allocations.start(kth);
}

memory_limit::~memory_limit() {
  allocations.start(0);
}

bool memory_limit::reached() const noexcept {
  return !allocations.running();
}

}  // namespace skua_test
