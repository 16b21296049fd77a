// examples/redis/key_commands.hpp: the commands that read and write keys.
#pragma once

#include "commands.hpp"

#include <string_view>

namespace redis {

void get(call& what);
void set(call& what);
void del(call& what);
void exists(call& what);
void incr(call& what);
void expire(call& what);
void ttl(call& what);
void dbsize(call& what);

// The word in any case; `lower` in lower case.
[[nodiscard]] inline bool is(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((word[i] | 0x20) != lower[i]) return false;
  return true;
}

}  // namespace redis
