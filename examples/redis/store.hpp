// examples/redis/store.hpp: keys, their values, and when they end.
#pragma once

#include <skua/time/instant.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace redis {

// Knows nothing of locks and clocks: who calls holds the one, and has read the other.
class store {
public:
  struct entry {
    std::string value;
    skua::instant end = skua::instant::never();
  };

  // Null if there is none. One whose time is over is removed here, and is none. Valid until the
  // next call.
  [[nodiscard]] entry* find(std::string_view key, skua::instant now);
  // There was none.
  entry& add(std::string_view key, std::string_view value);
  bool remove(std::string_view key, skua::instant now);

  // Keys that nobody asks for any more have to go, too: looks at the next `buckets` of the table,
  // and goes round. Says how many it removed.
  std::size_t sweep(skua::instant now, std::size_t buckets);

  // With those whose time is over and that nobody has met yet.
  [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::unordered_map<std::string, entry, hash, std::equal_to<>> all_;
  std::size_t next_bucket_ = 0;
};

}  // namespace redis
