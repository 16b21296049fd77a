// src/base/short_lock.cpp: what to do when somebody else is inside.
#include "skua/base/short_lock.hpp"

namespace skua::inline SKUA_ABI {

// Who holds it is about to let go, unless the kernel took its processor away: look a few times,
// then sleep. After a sleep others may sleep still, so the word says that they do.
void short_lock::wait_and_lock() noexcept {
  constexpr int looks = 100;
  for (int i = 0; i < looks; ++i) {
    // order: none; try_lock() decides.
    if (word_.load(std::memory_order_relaxed) == free && try_lock()) return;
  }
  // order: [short_lock] acquire: what the last holder did.
  while (word_.exchange(awaited, std::memory_order_acquire) != free)
    word_.wait(awaited, std::memory_order_relaxed);
}

void short_lock::wake_one() noexcept {
  word_.notify_one();
}

}  // namespace skua::inline SKUA_ABI
