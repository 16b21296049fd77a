// src/sync/wait_group.cpp: the event is set while the count is 0.
#include "skua/sync/wait_group.hpp"

namespace skua::inline SKUA_ABI {

void wait_group::add(std::size_t count) noexcept {
  const short_hold hold(zero_.line_.lock());
  check(count <= ~std::size_t{0} - count_, "a wait_group counts no more than a std::size_t holds");
  count_ += count;
  zero_.is_set_ = count_ == 0;
}

void wait_group::done(std::size_t count) noexcept {
  wait_line::granted all;
  {
    const short_hold hold(zero_.line_.lock());
    check(count <= count_, "no more are done than were added to a wait_group");
    count_ -= count;
    if (count_ == 0) zero_.set(all);
  }
  all.complete();
}

std::size_t wait_group::count() noexcept {
  const short_hold hold(zero_.line_.lock());
  return count_;
}

}  // namespace skua::inline SKUA_ABI
