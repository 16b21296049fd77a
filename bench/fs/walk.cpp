// bench/fs/walk.cpp: how long it takes to find 100,000 files, against the standard library.
//
// A round is one walk through 1,000 directories of 100 files each, whose names are in the kernel's
// cache; baseline: std::filesystem::recursive_directory_iterator, on a thread that does nothing
// else. The tree is made once, which takes much longer. By the command line:
//   (nothing)     100,000 files, 11 pairs of rounds in turn; prints medians
//   once          2,000 files, one pair: shows that it runs
// SKUA_BENCH_DIRECTORY: where; otherwise the temporary directory.
#include "skua/fs/walk.hpp"
#include "skua/fs/content.hpp"
#include "skua/fs/operations.hpp"
#include "skua/fs/remove_all.hpp"
#include "skua/fs/temp_directory.hpp"
#include "skua/runtime/run.hpp"
#include "skua/runtime/spawn_blocking.hpp"
#include "support/paired.hpp"
#include "support/require.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = skua::fs;
using skua::or_throw;
using clock_type = std::chrono::steady_clock;

constexpr int in_each = 100;

double milliseconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

skua::task<> make_tree(std::string root, int directories) {
  for (int i = 0; i < directories; ++i) {
    const std::string directory = root + "/" + std::to_string(i);
    or_throw(co_await fs::create_directory(directory));
    for (int k = 0; k < in_each; ++k)
      or_throw(co_await fs::write_file(directory + "/" + std::to_string(k), {}));
  }
}

skua::task<int> count_ours(std::string root) {
  int files = 0;
  auto tree = fs::walk(std::move(root));
  while (auto one = co_await tree.next()) files += one->kind() == fs::file_kind::regular ? 1 : 0;
  co_return files;
}

int count_theirs(const std::string& root) {
  int files = 0;
  for (const auto& one : std::filesystem::recursive_directory_iterator(root))
    files += one.is_regular_file() ? 1 : 0;
  return files;
}

skua::task<int> amain(int directories, int pairs) {
  const char* const where = std::getenv("SKUA_BENCH_DIRECTORY");
  std::string in = fs::temp_path();
  if (where != nullptr) in = where;
  auto place = or_throw(co_await fs::temp_directory::create(std::move(in)));
  const auto made = clock_type::now();
  co_await make_tree(place.path(), directories);
  std::printf("%d files made in %.0f ms\n", directories * in_each, milliseconds_since(made));
  std::vector<double> ratios;
  std::vector<double> times;
  for (int i = 0; i < pairs; ++i) {
    auto begin = clock_type::now();
    const int ours = co_await count_ours(place.path());
    times.push_back(milliseconds_since(begin));
    begin = clock_type::now();
    const int theirs = co_await skua::spawn_blocking(count_theirs, place.path());
    ratios.push_back(milliseconds_since(begin) / times.back());
    require(ours == directories * in_each && theirs == ours, "every file is found");
  }
  std::ranges::sort(times);
  const auto begin = clock_type::now();
  const auto gone = or_throw(co_await fs::remove_all(place.path()));
  const paired all = paired_ratio(std::move(ratios));
  std::printf(
      "walk: %.1f ms; the standard library's time / ours: %.2f (above %.2f); %llu names "
      "removed in %.0f ms\n",
      times[times.size() / 2], all.median, all.low, static_cast<unsigned long long>(gone),
      milliseconds_since(begin));
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "once") return skua::run(amain(20, 1));
  if (how.empty()) return skua::run(amain(1'000, 11));
  std::fprintf(stderr, "usage: %s [once]\n", argv[0]);
  return 2;
}
