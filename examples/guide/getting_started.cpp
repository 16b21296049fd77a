// examples/guide/getting_started.cpp: the code of docs/guide/getting-started.md.
#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

namespace {

using namespace std::chrono_literals;

// [snippet: hello]
skua::task<std::string> greeting(std::string name) {
  co_await skua::sleep(1ms);  // the task waits, the thread does not
  co_return "hello, " + name;
}

skua::task<int> amain() {
  const std::string text = co_await greeting("world");
  std::puts(text.c_str());
  co_return 0;
}
// [end]

// [snippet: errors]
skua::task<skua::result<std::size_t>> count_lines(std::string path) {
  const std::string text = co_await skua::or_return(co_await skua::fs::read_text(path));
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  co_return lines;
}

skua::task<> report(std::string path) {
  const auto lines = co_await count_lines(path);
  if (lines.has_value())
    std::printf("%s: %zu lines\n", path.c_str(), *lines);
  else
    std::printf("%s: %s\n", path.c_str(), lines.error().message().c_str());
}
// [end]

skua::task<int> try_all() {
  const int hello = co_await amain();
  co_await report("/etc/passwd");
  co_await report("/no/such/file");
  const auto none = co_await count_lines("/no/such/file");
  const bool right = !none.has_value() && none.error() == std::errc::no_such_file_or_directory;
  co_return right ? hello : 1;
}

// [snippet: runtime]
int run_by_hand() {
  auto runtime = skua::runtime::builder().workers(2).name("api").build();
  if (!runtime) {
    const std::string why(runtime.error().message());  // which setting, or what was refused
    std::puts(why.c_str());
    return 1;
  }
  return runtime->block_on(amain());
}
// [end]

}  // namespace

int main() {
  const int by_hand = run_by_hand();
  const int all = skua::run(try_all());
  return by_hand == 0 ? all : by_hand;
}
