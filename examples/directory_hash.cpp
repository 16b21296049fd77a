// examples/directory_hash.cpp: one number for all that is in a tree of directories.
//
//   directory_hash PATH
//   directory_hash         of a small tree that it makes itself, before and after a change
//
// Files are hashed in parallel, a bounded number at a time; the sum of their hashes does not depend
// on the order in which they are found.
#include <skua/skua.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = skua::fs;
using skua::or_return;

constexpr std::size_t at_once = 32;

std::uint64_t mix(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (const std::byte one : bytes) {
    hash ^= static_cast<std::uint64_t>(one);
    hash *= 0x100000001b3;
  }
  return hash;
}

struct totals {
  std::uint64_t hash = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

skua::task<skua::result<totals>> hash_file(std::string path, std::string name) {
  fs::file file = co_await or_return(co_await fs::file::open(std::move(path)));
  totals mine;
  mine.files = 1;
  mine.hash = mix(0xcbf29ce484222325, std::as_bytes(std::span(name)));
  std::vector<std::byte> buffer(64'000);
  while (const std::size_t got = co_await or_return(co_await file.read(buffer))) {
    mine.hash = mix(mine.hash, std::span(buffer).first(got));
    mine.bytes += got;
  }
  co_return mine;
}

using handle = skua::join_handle<skua::result<totals>>;

skua::task<skua::result<void>> add(totals& to, handle one) {
  const totals more = co_await or_return(co_await std::move(one));
  to.hash += more.hash;
  to.files += more.files;
  to.bytes += more.bytes;
  co_return {};
}

skua::task<skua::result<totals>> hash_tree(std::string root) {
  totals sum;
  std::vector<handle> busy;
  std::size_t next = 0;
  auto tree = fs::walk(root);
  while (auto entry = co_await tree.next()) {
    if (entry->error()) co_return skua::fail(entry->error());
    if (entry->kind() != fs::file_kind::regular) continue;
    std::string name = entry->path().substr(root.size());
    auto one = skua::spawn(hash_file(std::move(*entry).path(), std::move(name)));
    if (busy.size() < at_once) {
      busy.push_back(std::move(one));
      continue;
    }
    co_await or_return(co_await add(sum, std::exchange(busy[next], std::move(one))));
    next = (next + 1) % at_once;
  }
  for (handle& one : busy) co_await or_return(co_await add(sum, std::move(one)));
  co_return sum;
}

skua::task<skua::result<void>> show(std::string root) {
  const totals sum = co_await or_return(co_await hash_tree(std::move(root)));
  std::printf("%016llx  %llu files, %llu bytes\n", static_cast<unsigned long long>(sum.hash),
              static_cast<unsigned long long>(sum.files),
              static_cast<unsigned long long>(sum.bytes));
  co_return {};
}

skua::task<skua::result<void>> demonstrate() {
  const auto place = co_await or_return(co_await fs::temp_directory::create());
  for (int i = 0; i < 200; ++i) {
    const std::string directory = place / std::to_string(i % 10);
    co_await or_return(co_await fs::create_directories(directory));
    const std::string text = "file number " + std::to_string(i);
    const std::string path = directory + "/" + std::to_string(i);
    co_await or_return(co_await fs::write_file(path, std::as_bytes(std::span(text))));
  }
  co_await or_return(co_await show(place.path()));
  constexpr std::string_view other = "another text";
  co_await or_return(
      co_await fs::write_file_atomic(place / "7/17", std::as_bytes(std::span(other))));
  co_return co_await show(place.path());
}

skua::task<int> amain(std::string path) {
  skua::result<void> end;
  if (path.empty())
    end = co_await demonstrate();
  else
    end = co_await show(path);
  if (end) co_return 0;
  std::fprintf(stderr, "directory_hash: %s\n", end.error().message().c_str());
  co_return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return skua::run(amain(argc > 1 ? argv[1] : ""));
}
