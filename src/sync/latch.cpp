// src/sync/latch.cpp: the last count sets the event.
#include "skua/sync/latch.hpp"

namespace skua::inline SKUA_ABI {

void latch::count_down(std::size_t count) noexcept {
  wait_line::granted all;
  {
    const short_hold hold(zero_.line_.lock());
    check(count <= left_, "a latch is counted down to 0, and no further");
    left_ -= count;
    if (left_ == 0) zero_.set(all);
  }
  all.complete();
}

}  // namespace skua::inline SKUA_ABI
