// src/fiber/switch_notes.hpp: tells the sanitizers of the process which stack is in use.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>

// Present only in a process that a sanitizer was linked into, whoever compiled this file.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
[[gnu::weak]] void __asan_unpoison_memory_region(const void* from, std::size_t size);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* lowest,
                                                  std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** lowest,
                                                   std::size_t* size);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace skua::inline SKUA_ABI::fiber {

/// Each function is called just before or just after a switch, in the function that switches: they
/// are inlined there, since ThreadSanitizer counts the calls and returns on each stack.
class switch_notes {
public:
  switch_notes(std::byte* lowest, std::size_t size) noexcept : lowest_(lowest), size_(size) {
    // What the last fiber on this stack left of its frames.
    if (has_asan()) __asan_unpoison_memory_region(lowest, size);
    if (has_tsan()) thread_inside_ = __tsan_create_fiber(0);
  }
  switch_notes(const switch_notes&) = delete;
  switch_notes& operator=(const switch_notes&) = delete;
  ~switch_notes() {
    if (has_tsan()) __tsan_destroy_fiber(thread_inside_);
  }

  [[gnu::always_inline]] void before_going_in() noexcept {
    if (has_asan()) __sanitizer_start_switch_fiber(&fake_outside_, lowest_, size_);
    if (has_tsan()) {
      thread_outside_ = __tsan_get_current_fiber();
      __tsan_switch_to_fiber(thread_inside_, 0);
    }
  }
  [[gnu::always_inline]] void after_coming_in() noexcept {
    if (has_asan()) __sanitizer_finish_switch_fiber(fake_inside_, &outside_lowest_, &outside_size_);
  }
  [[gnu::always_inline]] void before_going_out(bool for_good) noexcept {
    if (has_asan())
      __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_inside_, outside_lowest_,
                                     outside_size_);
    if (has_tsan()) __tsan_switch_to_fiber(thread_outside_, 0);
  }
  [[gnu::always_inline]] void after_coming_out() noexcept {
    if (has_asan()) __sanitizer_finish_switch_fiber(fake_outside_, nullptr, nullptr);
  }

  /// True if this process has a sanitizer in it.
  [[nodiscard]] static bool needed() noexcept { return has_asan() || has_tsan(); }

private:
  [[gnu::always_inline]] static bool has_asan() noexcept {
    return __sanitizer_start_switch_fiber != nullptr && __asan_unpoison_memory_region != nullptr;
  }
  [[gnu::always_inline]] static bool has_tsan() noexcept { return __tsan_create_fiber != nullptr; }

  const void* lowest_;
  std::size_t size_;
  const void* outside_lowest_ = nullptr;
  std::size_t outside_size_ = 0;
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  void* thread_inside_ = nullptr;  // as ThreadSanitizer counts
  void* thread_outside_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI::fiber
