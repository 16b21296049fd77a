// examples/guide/tasks.cpp: the code of docs/guide/tasks.md.
#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

skua::task<std::string> fetch(std::string url) {
  co_await skua::sleep(1ms);
  if (url.empty()) throw std::invalid_argument("no address");
  co_return "page of " + url;
}
skua::task<std::string> slow_fetch(std::string url) {
  co_await skua::sleep(24h);
  co_return "late page of " + url;
}

// [snippet: spawn]
skua::task<std::size_t> read_both() {
  auto first = skua::spawn(fetch("a.example"));  // runs from now on, on any worker
  auto second = skua::spawn(fetch("b.example"));
  const std::string a = co_await std::move(first);  // its value, or its exception
  const std::string b = co_await std::move(second);
  co_return a.size() + b.size();
}
// [end]

// [snippet: when-all]
skua::task<std::size_t> read_both_here() {
  auto [a, b] = co_await skua::when_all(fetch("a.example"), fetch("b.example"));
  co_return a.size() + b.size();
}
// [end]

// [snippet: race]
skua::task<std::string> read_first() {
  co_return co_await skua::race(slow_fetch("primary.example"), fetch("replica.example"));
}
// [end]

// [snippet: parallel]
skua::task<long> sum(const long* from, std::size_t count) {
  if (count <= 1000) {
    long total = 0;
    for (std::size_t i = 0; i < count; ++i) total += from[i];
    co_return total;
  }
  const std::size_t half = count / 2;
  auto [left, right] = co_await skua::parallel_all(sum(from, half), sum(from + half, count - half));
  co_return left + right;
}
// [end]

// [snippet: outcome]
skua::task<> tell(skua::join_handle<std::string> page) {
  const auto how = co_await page.outcome();  // all three ends as a value
  if (how.stopped())
    std::puts("stopped");
  else if (how.has_exception())
    std::puts("failed");
  else
    std::puts(how->c_str());
}
// [end]

// [snippet: abort]
skua::task<bool> give_up() {
  auto page = skua::spawn(slow_fetch("slow.example"));
  page.abort();                              // asks
  const auto how = co_await page.outcome();  // waits until it has unwound
  co_return how.stopped();
}
// [end]

skua::task<int> amain() {
  const std::size_t beside = co_await read_both();
  const std::size_t here = co_await read_both_here();
  const std::string first = co_await read_first();
  const std::vector<long> numbers(10'000, 2);
  const long total = co_await sum(numbers.data(), numbers.size());
  co_await tell(skua::spawn(fetch("c.example")));
  co_await tell(skua::spawn(fetch("")));
  const bool stopped = co_await give_up();
  const bool right = beside == here && beside == 34 && first == "page of replica.example" &&
                     total == 20'000 && stopped;
  co_return right ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
