// examples/shards.cpp: counters without locks: each worker has its own, and others ask by message.
#include <skua/skua.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <utility>

namespace {

constexpr std::size_t workers = 2;

/// Touched by the tasks of one worker only, one after the other.
struct shard {
  std::unordered_map<std::string, int> counts;
};
std::array<shard, workers> shards;

shard& mine() {
  return shards[skua::this_worker().value()];
}

skua::task<> count(std::string word) {
  ++mine().counts[word];
  co_return;
}

skua::task<int> amain() {
  const std::array<const char*, 6> birds = {"skua", "gull", "skua", "tern", "skua", "gull"};
  for (const char* word : birds)
    co_await skua::spawn_by(word, count(word));  // the same word, the same worker

  int words = 0;
  int total = 0;
  for (std::size_t i = 0; i < skua::worker_count(); ++i) {
    const auto [kinds, sum] = co_await skua::run_on(i, [] {  // on the shard's own thread
      int all = 0;
      for (const auto& [word, times] : mine().counts) all += times;
      return std::pair(static_cast<int>(mine().counts.size()), all);
    });
    words += kinds;
    total += sum;
  }
  std::printf("%d words, %d birds\n", words, total);
  co_return words == 3 && total == 6 ? 0 : 1;
}

}  // namespace

int main() {
  auto rt = skua::runtime::builder()
                .flavour(skua::flavour::thread_per_core)
                .workers(workers)
                .dispatcher(skua::dispatch::hash())
                .name("shard")
                .build();
  if (!rt) {
    std::fprintf(stderr, "%s\n", std::string(rt.error().message()).c_str());
    return 1;
  }
  return rt->block_on(amain());
}
