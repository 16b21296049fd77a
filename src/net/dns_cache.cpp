// src/net/dns_cache.cpp: a map, and the order in which its entries were used.
#include "net/dns_cache.hpp"

#include <utility>

namespace skua::inline SKUA_ABI::net {

std::optional<found_addresses> dns_cache::find(const dns_key& key, instant now) {
  const auto known = entries_.find(key);
  if (known == entries_.end()) return std::nullopt;
  if (known->second.end <= now) {
    remove(known);
    return std::nullopt;
  }
  used_.splice(used_.begin(), used_, known->second.place);
  return known->second.answer;
}

void dns_cache::put(const dns_key& key, found_addresses answer, instant now, instant end) {
  if (end <= now || most_ == 0) return;
  if (const auto former = entries_.find(key); former != entries_.end()) remove(former);
  if (entries_.size() == most_) remove(used_.back());
  used_.emplace_front();
  try {
    const auto made = entries_.try_emplace(key, std::move(answer), end, used_.begin()).first;
    used_.front() = made;
  } catch (...) {
    used_.pop_front();
    throw;
  }
}

void dns_cache::clear() noexcept {
  used_.clear();
  entries_.clear();
}

void dns_cache::remove(entries::iterator which) noexcept {
  used_.erase(which->second.place);
  entries_.erase(which);
}

}  // namespace skua::inline SKUA_ABI::net
