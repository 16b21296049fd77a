// examples/guide/blocking.cpp: the code of docs/guide/blocking-and-fibers.md, without fibers.
#include <skua/skua.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace {

// [snippet: spawn-blocking]
std::size_t hash_password(std::string password) {  // takes its time, and knows nothing of tasks
  std::size_t hash = 0;
  for (int i = 0; i < 1000; ++i) hash = std::hash<std::string>()(password + std::to_string(hash));
  return hash;
}

skua::task<std::size_t> log_in(std::string password) {
  co_return co_await skua::spawn_blocking(hash_password, std::move(password));
}
// [end]

// [snippet: in-place]
skua::task<std::size_t> flush_here() {
  std::string journal = "two birds";
  co_return skua::block_in_place([&] {  // may use what is here; other tasks go on elsewhere
    journal += ", written";
    return journal.size();
  });
}
// [end]

// [snippet: budget]
skua::task<std::uint64_t> compute(std::uint64_t rounds) {
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    if (i % 1024 == 0) co_await skua::consume_budget();  // fair to others, and can be stopped
  }
  co_return state;
}
// [end]

skua::task<int> amain() {
  const std::size_t one = co_await log_in("secret");
  const std::size_t other = co_await log_in("secret");
  const std::size_t written = co_await flush_here();
  const std::uint64_t state = co_await compute(100'000);
  co_return one == other&& written == 18 && state != 1 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
