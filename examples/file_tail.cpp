// examples/file_tail.cpp: shows what is added to a file, as it is added.
//
//   file_tail PATH    until it is interrupted, or the file is gone
//   file_tail         follows a file that it writes itself
#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = skua::fs;
using skua::or_return;

// Prints what is there from the file's position on.
skua::task<skua::result<std::size_t>> show_rest(fs::file& file) {
  std::vector<std::byte> buffer(64'000);
  for (std::size_t all = 0;;) {
    const std::size_t got = co_await or_return(co_await file.read(buffer));
    if (got == 0) co_return all;
    std::fwrite(buffer.data(), 1, got, stdout);
    std::fflush(stdout);
    all += got;
  }
}

// Watched before it is read: what is added in between is not missed.
skua::task<skua::result<void>> follow(std::string path) {
  fs::watcher changes = co_await or_return(fs::watcher::create());
  co_await or_return(co_await changes.add(path));
  fs::file file = co_await or_return(co_await fs::file::open(path));
  for (;;) {
    co_await or_return(co_await show_rest(file));
    const fs::watch_event event = co_await or_return(co_await changes.next());
    const fs::file_info about = co_await or_return(co_await file.metadata());
    if (about.links() == 0 || event.is_end()) co_return {};
    if (static_cast<std::int64_t>(about.size()) < file.position().value_or(0)) {
      std::puts("-- cut off");
      co_await or_return(co_await file.seek(0));
    }
  }
}

skua::task<skua::result<void>> write_lines(std::string path) {
  fs::file log =
      co_await or_return(co_await fs::file::open(path, fs::open_options().append().create()));
  for (int i = 1; i <= 5; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    co_await or_return(co_await log.write_all(std::as_bytes(std::span(line))));
    co_await skua::sleep(10ms);
  }
  co_return co_await fs::remove_file(std::move(path));
}

skua::task<skua::result<void>> demonstrate() {
  const auto place = co_await or_return(co_await fs::temp_directory::create());
  const std::string path = place / "log";
  co_await or_return(co_await fs::write_file(path, {}));
  auto [followed, written] = co_await skua::when_all(follow(path), write_lines(path));
  co_await or_return(std::move(written));
  co_return followed;
}

skua::task<int> amain(std::string path) {
  skua::result<void> end;
  if (path.empty())
    end = co_await demonstrate();
  else
    end = co_await follow(path);
  if (end) co_return 0;
  std::fprintf(stderr, "file_tail: %s\n", end.error().message().c_str());
  co_return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return skua::run(amain(argc > 1 ? argv[1] : ""));
}
