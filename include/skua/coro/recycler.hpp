// skua/coro/recycler.hpp: per-thread free lists for coroutine frames.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <new>

namespace skua::inline SKUA_ABI {

/// Memory for one coroutine frame; throws std::bad_alloc. Any thread may free it, at any time:
/// after the allocating thread has ended, and while static objects are destroyed.
///
/// Blocks are malloc'ed one by one at the size of their class and kept in the freeing thread's
/// list, at most `recycled_bytes_per_class` for each class. Half of a list that is full goes to a
/// store that all threads share, and that they turn to when a list is empty: so frames come back
/// from a thread that only frees to one that only allocates. What is more than
/// `stored_frame_bytes_max` there goes back to malloc; so does all of it when a runtime ends.
/// Frames above `largest_recycled_frame` always use malloc.
[[nodiscard]] void* allocate_frame(std::size_t size);

/// `size` is what was asked of allocate_frame().
void free_frame(void* frame, std::size_t size) noexcept;

/// Bytes; larger frames are not kept.
inline constexpr std::size_t largest_recycled_frame = 2040;
/// How many bytes of frames of about one size a thread keeps: 64 KiB.
inline constexpr std::size_t recycled_bytes_per_class = std::size_t{64} * 1024;
/// How many bytes of frames the store keeps: 256 MiB.
inline constexpr std::size_t stored_frame_bytes_max = std::size_t{256} * 1024 * 1024;

/// From now on the calling thread keeps no frames, nor does any thread that had none until now:
/// call it first thing in main(). There is no way back. A process with a sanitizer in it starts
/// switched off, so that the sanitizer sees every frame's true life.
[[gnu::visibility("default")]] void switch_off_frame_recycling() noexcept;

/// Bytes in the calling thread's lists now.
[[nodiscard, gnu::visibility("default")]] std::size_t recycled_frame_bytes() noexcept;

/// Bytes in the store now.
[[nodiscard, gnu::visibility("default")]] std::size_t stored_frame_bytes() noexcept;

/// In steps of 32 bytes up to 512, then of 128. malloc needs 8 bytes of its own for each block, and
/// hands memory out by 16: so each class is 8 below a multiple of that.
struct frame_classes {
  static constexpr std::size_t small_step = 32, large_step = 128, own_bytes = 8;
  static constexpr std::size_t small = 16;  ///< So many in small steps.
  static constexpr std::size_t small_max = small * small_step;

  static constexpr std::size_t of(std::size_t size) noexcept {
    const std::size_t whole = size + own_bytes;
    if (whole <= small_max) return (whole + small_step - 1) / small_step;
    return small + (whole - small_max + large_step - 1) / large_step;
  }
  /// What blocks of a class have room for.
  static constexpr std::size_t size(std::size_t of_class) noexcept {
    if (of_class <= small) return of_class * small_step - own_bytes;
    return small_max + (of_class - small) * large_step - own_bytes;
  }
};

/// The quick path of allocate_frame() and free_frame(), in the header because a call would cost as
/// much as the list operation. Nobody else touches it.
///
/// Trivially constructed and destroyed: the memory is usable for as long as the thread has any,
/// also when other thread-local or static objects free frames late.
struct frame_lists {
  struct block {
    block* next;
  };
  static constexpr std::size_t classes = frame_classes::of(largest_recycled_frame) + 1;

  block* head[classes];
  /// How many more blocks each list may keep: 0 while the lists are not open, so that the quick
  /// path needs no other test.
  unsigned room[classes];

  // The slow paths: an empty list, or no room in it.
  [[nodiscard, gnu::visibility("default")]] static void* allocate_from_store(
      std::size_t size_class);
  [[nodiscard, gnu::visibility("default")]] static void* allocate_from_system(std::size_t size);
  [[gnu::visibility("default")]] static void free_without_room(void* frame,
                                                               std::size_t size_class) noexcept;
  [[gnu::visibility("default")]] static void free_to_system(void* frame) noexcept;
};

// Initial-exec: a call per access would eat the gain. It takes some 400 bytes of what the C library
// reserves for the thread-local data of libraries that are loaded late, so a plugin may bring skua.
[[gnu::visibility("default"),
  gnu::tls_model("initial-exec")]] extern constinit thread_local frame_lists this_threads_frames;

inline void* allocate_frame(std::size_t size) {
  if (size > largest_recycled_frame) return frame_lists::allocate_from_system(size);
  const std::size_t size_class = frame_classes::of(size);
  frame_lists::block* const first = this_threads_frames.head[size_class];
  if (first == nullptr) [[unlikely]]
    return frame_lists::allocate_from_store(size_class);
  frame_lists::block* const second = first->next;
  // Where there were many it may be in no cache. To ask for what is nowhere takes a nanosecond.
  if (second != nullptr) __builtin_prefetch(second, 1);
  this_threads_frames.head[size_class] = second;
  ++this_threads_frames.room[size_class];
  return first;
}

inline void free_frame(void* frame, std::size_t size) noexcept {
  if (size > largest_recycled_frame) return frame_lists::free_to_system(frame);
  const std::size_t size_class = frame_classes::of(size);
  if (this_threads_frames.room[size_class]-- == 0) [[unlikely]]
    return frame_lists::free_without_room(frame, size_class);
  this_threads_frames.head[size_class] =
      ::new (frame) frame_lists::block{this_threads_frames.head[size_class]};
}

}  // namespace skua::inline SKUA_ABI
