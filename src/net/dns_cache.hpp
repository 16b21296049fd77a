// src/net/dns_cache.hpp: answers that hold for a while, a bounded number of them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/ip_family.hpp"
#include "skua/time/instant.hpp"

#include <compare>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::net {

/// What is asked for.
struct dns_key {
  dns_key(std::string lower_name, ip_family version) noexcept
      : name(std::move(lower_name)), which(version) {}

  std::string name;
  ip_family which;  // v4 or v6
  friend auto operator<=>(const dns_key&, const dns_key&) = default;
  friend bool operator==(const dns_key&, const dns_key&) = default;
};

using found_addresses = result<std::vector<ip_address>>;

/// Knows no clock and no locks. When it is full, what was found or put in longest ago goes first.
class dns_cache {
public:
  explicit dns_cache(std::size_t most) noexcept : most_(most) {}

  /// Nothing if it is not known, or not any more.
  [[nodiscard]] std::optional<found_addresses> find(const dns_key& key, instant now);
  /// Does nothing if `end` is not after `now`.
  void put(const dns_key& key, found_addresses answer, instant now, instant end);
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
  struct entry;
  using entries = std::map<dns_key, entry>;
  struct entry {
    found_addresses answer;
    instant end;
    std::list<entries::iterator>::iterator place;  // in used_
  };

  void remove(entries::iterator which) noexcept;

  const std::size_t most_;
  entries entries_;
  std::list<entries::iterator> used_;  // the latest first
};

}  // namespace skua::inline SKUA_ABI::net
