// examples/guide/scopes.cpp: the code of docs/guide/scopes.md.
#include <skua/skua.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

skua::task<> rebuild(int& shard) {
  co_await skua::yield();
  shard *= 2;
}

// [snippet: scope]
skua::task<> rebuild_all(std::vector<int>& shards) {
  const auto begin_all = [&](skua::scope& children) -> skua::task<> {
    for (int& shard : shards) children.spawn(rebuild(shard));  // may borrow: the scope waits
    co_return;
  };
  co_await skua::with_scope(begin_all);  // goes on when every child has ended
}
// [end]

// [snippet: failure]
skua::task<> fail_soon() {
  co_await skua::yield();
  throw std::runtime_error("disk full");
}
skua::task<> work_for_ever() {
  for (;;) co_await skua::sleep(1h);
}

skua::task<std::string> first_failure() {
  const auto begin_all = [](skua::scope& children) -> skua::task<> {
    children.spawn(work_for_ever());
    children.spawn(fail_soon());
    co_return;
  };
  try {
    co_await skua::with_scope(begin_all);
  } catch (const std::runtime_error& why) {
    co_return why.what();  // the other child was stopped, and has ended
  }
  co_return "";
}
// [end]

// [snippet: group]
skua::task<int> square(int number) {
  co_await skua::yield();
  co_return number* number;
}

skua::task<int> sum_of_squares() {
  skua::task_group<int> squares(4);  // no more than four at a time
  for (int i = 1; i <= 10; ++i) squares.spawn(square(i));
  int total = 0;
  while (auto ended = co_await squares.join_next()) total += std::move(*ended).value();
  co_return total;
}
// [end]

// [snippet: concurrent]
skua::task<std::size_t> read_all(const std::vector<std::string>& paths) {
  std::size_t bytes = 0;  // no lock: they take turns in this task
  const auto read = [&bytes](const std::string& path) -> skua::task<> {
    const auto text = co_await skua::fs::read_text(path);
    if (text.has_value()) bytes += text->size();
  };
  co_await skua::for_each_concurrent(paths, 16, read);
  co_return bytes;
}
// [end]

skua::task<int> amain() {
  std::vector<int> shards(100, 1);
  co_await rebuild_all(shards);
  const bool doubled = shards == std::vector<int>(100, 2);
  const std::string why = co_await first_failure();
  const int total = co_await sum_of_squares();
  const std::vector<std::string> paths = {"/etc/passwd", "/etc/group", "/no/such/file"};
  const std::size_t bytes = co_await read_all(paths);
  co_return doubled&& why == "disk full" && total == 385 && bytes > 0 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
