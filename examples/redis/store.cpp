// examples/redis/store.cpp: a hash table whose entries end.
#include "store.hpp"

#include <utility>
#include <vector>

namespace redis {

store::entry* store::find(std::string_view key, skua::instant now) {
  const auto found = all_.find(key);
  if (found == all_.end()) return nullptr;
  if (found->second.end > now) return &found->second;
  all_.erase(found);
  return nullptr;
}

store::entry& store::add(std::string_view key, std::string_view value) {
  return all_.emplace(std::string(key), entry{std::string(value)}).first->second;
}

bool store::remove(std::string_view key, skua::instant now) {
  const auto found = all_.find(key);
  if (found == all_.end()) return false;
  const bool was_there = found->second.end > now;
  all_.erase(found);
  return was_there;
}

std::size_t store::sweep(skua::instant now, std::size_t buckets) {
  std::vector<std::string> over;
  const std::size_t all = all_.bucket_count();
  for (std::size_t looked = 0; looked < buckets && looked < all; ++looked) {
    if (next_bucket_ >= all) next_bucket_ = 0;
    for (auto one = all_.cbegin(next_bucket_); one != all_.cend(next_bucket_); ++one)
      if (one->second.end <= now) over.push_back(one->first);
    ++next_bucket_;
  }
  for (const std::string& key : over) all_.erase(key);
  return over.size();
}

}  // namespace redis
