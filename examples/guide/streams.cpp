// examples/guide/streams.cpp: the code of docs/guide/streams.md.
#include <skua/skua.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace stream = skua::stream;

// [snippet: generator]
skua::async_generator<int> readings(int count) {
  for (int i = 0; i < count; ++i) {
    co_await skua::sleep(1us);
    co_yield i* i % 101;
  }
}

skua::task<int> highest() {
  int most = 0;
  auto all = readings(50);
  while (auto one = co_await all.next()) most = std::max(most, *one);
  co_return most;
}
// [end]

// [snippet: adaptors]
skua::task<std::vector<int>> first_alarms() {
  const auto is_high = [](int reading) { return reading > 50; };
  const auto to_percent = [](int reading) { return reading - 50; };
  auto alarms =
      readings(1000) | stream::filter(is_high) | stream::map(to_percent) | stream::take(3);
  co_return co_await stream::collect(std::move(alarms));
}
// [end]

// [snippet: buffered]
skua::task<std::string> fetch(int page) {
  co_await skua::sleep(1us);
  co_return std::to_string(page);
}

skua::task<std::string> fetch_all() {
  std::string text;
  const auto add = [&text](std::string page) { text += page; };
  auto pages = readings(5) | stream::buffered(3, fetch);  // three at a time, results in order
  co_await stream::for_each(std::move(pages), add);
  co_return text;
}
// [end]

// [snippet: merge]
skua::task<std::size_t> count_both() {
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  auto source = skua::spawn(stream::forward(readings(10), std::move(tx)));
  auto all = stream::merge(stream::from(std::move(rx)), readings(5));
  const auto values = co_await stream::collect(std::move(all));
  (void)co_await std::move(source);
  co_return values.size();
}
// [end]

skua::task<int> amain() {
  const int most = co_await highest();
  const std::vector<int> alarms = co_await first_alarms();
  const std::string text = co_await fetch_all();
  const std::size_t both = co_await count_both();
  const bool right = most > 90 && alarms.size() == 3 && text == "014916" && both == 15;
  co_return right ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
