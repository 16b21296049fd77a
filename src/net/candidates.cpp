// src/net/candidates.cpp: IPv6 first, then in turns; who is late is not waited for long.
#include "net/candidates.hpp"

#include "skua/base/check.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI::net {

void candidates::add(const socket_address& one, instant now) {
  const bool v6 = one.ip().is_v6();
  of(v6).waiting.push_back(one);
  if (v6 != next_is_v6_ && !any_taken_) wait_end_ = std::min(wait_end_, now + patience_);
}

void candidates::close(ip_family which) noexcept {
  of(which == ip_family::v6).open = false;
}

candidates::step candidates::next(instant now) const noexcept {
  const line& preferred = of(next_is_v6_);
  const line& other = of(!next_is_v6_);
  if (!preferred.waiting.empty()) return step::try_it;
  if (!other.waiting.empty()) {
    // Only the first attempt of all waits for its version: later ones take what there is.
    const bool patient = preferred.open && !any_taken_ && now < wait_end_;
    return patient ? step::wait : step::try_it;
  }
  return preferred.open || other.open ? step::wait : step::end;
}

socket_address candidates::take() {
  bool v6 = next_is_v6_;
  if (of(v6).waiting.empty()) v6 = !v6;
  check(!of(v6).waiting.empty(), "an address is taken if there is one to try");
  const socket_address taken = of(v6).waiting.front();
  of(v6).waiting.pop_front();
  next_is_v6_ = !v6;
  any_taken_ = true;
  wait_end_ = instant::never();
  return taken;
}

}  // namespace skua::inline SKUA_ABI::net
