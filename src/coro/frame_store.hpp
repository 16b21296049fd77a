// src/coro/frame_store.hpp: free frames that no thread's list has room for.
#pragma once

#include "skua/coro/recycler.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

/// One for the process, as malloc is, whose blocks it keeps: they outlive threads and runtimes. It
/// is never destroyed, so that static objects may free frames late.
///
/// The largest class has an eighth of it at the most: rings of channels are of that class, and what
/// a crowd of messages has left must not take the place of frames.
///
/// From any thread. Nobody ever waits here: whoever finds it in use takes malloc instead. So does a
/// forked child, if another thread of its parent was at it.
struct frame_store {
  using block = frame_lists::block;
  /// Blocks of one class, linked; the last one's `next` is null.
  struct chain {
    block* first = nullptr;
    unsigned count = 0;
  };

  /// Nothing if there are none, or somebody else is here.
  [[nodiscard]] static chain take(std::size_t size_class) noexcept;
  /// A guess: whether give() is worth the walk to the middle of a list.
  [[nodiscard]] static bool has_room(std::size_t size_class, unsigned count) noexcept {
    const std::size_t more = count * frame_classes::size(size_class);
    return bytes() + more <= stored_frame_bytes_max &&
           (size_class != largest_class || largest_bytes() + more <= stored_frame_bytes_max / 8);
  }
  /// False if there is no room, or somebody else is here: they are still the caller's.
  [[nodiscard]] static bool give(std::size_t size_class, block* first, unsigned count) noexcept;
  /// Gives all of them back to malloc.
  static void free_all() noexcept;
  /// How much there is.
  [[nodiscard]] static std::size_t bytes() noexcept;

private:
  static constexpr std::size_t largest_class = frame_lists::classes - 1;
  [[nodiscard]] static std::size_t largest_bytes() noexcept;
  static void note(std::size_t size_class, std::ptrdiff_t blocks) noexcept;
  [[nodiscard]] static chain pop(std::size_t size_class) noexcept;
};

}  // namespace skua::inline SKUA_ABI
