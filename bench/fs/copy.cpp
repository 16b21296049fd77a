// bench/fs/copy.cpp: how quickly a file is copied, against cp.
//
// A round is one copy of a file that is in the kernel's cache, with both programs in turn, and in
// the other order the next time; cp is told not to share what it copies, and pays for its start, a
// thousandth of the time. By the command line:
//   (nothing)         1 GiB, dense and sparse (one in eight MiB is there), 5 pairs of rounds each
//   once              16 MiB, one pair: shows that it runs, and that the bytes are the same
//   at-least RATIO    as without, and fails if cp's time / ours is less, by the median
// SKUA_BENCH_DIRECTORY: where; otherwise the temporary directory.
#include "skua/fs/content.hpp"
#include "skua/fs/copy_file.hpp"
#include "skua/fs/file.hpp"
#include "skua/fs/temp_directory.hpp"
#include "skua/runtime/run.hpp"
#include "skua/runtime/spawn_blocking.hpp"
#include "support/paired.hpp"
#include "support/require.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = skua::fs;
using skua::or_throw;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

std::vector<std::byte> noise(std::uint32_t seed) {
  std::vector<std::byte> made(mebibyte);
  for (std::byte& one : made) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    one = static_cast<std::byte>(seed >> 24);
  }
  return made;
}

// One MiB of every `stride` is there.
skua::task<> make_source(std::string path, std::size_t mebibytes, std::size_t stride) {
  fs::file file = or_throw(co_await fs::file::create(std::move(path)));
  const auto some = noise(1);
  for (std::size_t i = 0; i < mebibytes; i += stride)
    or_throw(co_await file.write_all_at(some, static_cast<std::int64_t>(i * mebibyte)));
  or_throw(co_await file.truncate(static_cast<std::int64_t>(mebibytes * mebibyte)));
}

double time_cp(const std::string& from, const std::string& to) {
  const auto begin = clock_type::now();
  std::string name = "cp";
  std::string option = "--reflink=never";
  std::string source = from;
  std::string target = to;
  char* const arguments[] = {name.data(), option.data(), source.data(), target.data(), nullptr};
  pid_t child = 0;
  require(::posix_spawnp(&child, "cp", nullptr, nullptr, arguments, environ) == 0, "cp");
  int status = 0;
  require(::waitpid(child, &status, 0) == child && status == 0, "cp");
  return seconds_since(begin);
}

skua::task<double> time_ours(std::string from, std::string to) {
  const auto begin = clock_type::now();
  or_throw(co_await fs::copy_file(std::move(from), std::move(to)));
  co_return seconds_since(begin);
}

skua::task<bool> same(std::string one, std::string other) {
  const fs::file left = or_throw(co_await fs::file::open(std::move(one)));
  const fs::file right = or_throw(co_await fs::file::open(std::move(other)));
  std::vector<std::byte> a(mebibyte);
  std::vector<std::byte> b(mebibyte);
  for (std::int64_t offset = 0;; offset += static_cast<std::int64_t>(mebibyte)) {
    const std::size_t got = or_throw(co_await left.read_full_at(a, offset));
    const std::size_t other_got = or_throw(co_await right.read_full_at(b, offset));
    if (got != other_got || std::memcmp(a.data(), b.data(), got) != 0) co_return false;
    if (got == 0) co_return true;
  }
}

skua::task<double> compare(const fs::temp_directory& place, const char* name, std::size_t mebibytes,
                           std::size_t stride, int pairs) {
  const std::string from = place / "from";
  const std::string ours = place / "ours";
  const std::string theirs = place / "theirs";
  co_await make_source(from, mebibytes, stride);
  std::vector<double> ratios;
  double best = 1e9;
  for (int i = -1; i < pairs; ++i) {  // the first one warms up
    (void)::unlink(ours.c_str());
    (void)::unlink(theirs.c_str());
    double we = 0;
    if (i % 2 == 0) we = co_await time_ours(from, ours);
    const double they = co_await skua::spawn_blocking(time_cp, from, theirs);
    if (i % 2 != 0) we = co_await time_ours(from, ours);
    if (i >= 0 || pairs == 1) ratios.push_back(they / we);
    best = std::min(best, we);
  }
  const bool is_same = co_await same(from, ours);
  require(is_same, "the same bytes");
  const auto of_ours = or_throw(co_await fs::file::open(ours));
  const auto about = or_throw(co_await of_ours.metadata());
  const paired all = paired_ratio(std::move(ratios));
  std::printf(
      "copy %-7s %5zu MiB: %6.0f MiB/s at best, %zu MiB on the device; cp's time / ours: "
      "%.2f (above %.2f)\n",
      name, mebibytes, static_cast<double>(mebibytes) / best,
      static_cast<std::size_t>(about.allocated()) / mebibyte, all.median, all.low);
  co_return all.median;
}

skua::task<int> amain(std::size_t mebibytes, int pairs, double at_least) {
  const char* const where = std::getenv("SKUA_BENCH_DIRECTORY");
  std::string in = fs::temp_path();
  if (where != nullptr) in = where;
  auto place = or_throw(co_await fs::temp_directory::create(std::move(in)));
  const double dense = co_await compare(place, "dense", mebibytes, 1, pairs);
  const double sparse = co_await compare(place, "sparse", mebibytes, 8, pairs);
  or_throw(co_await std::move(place).remove());
  co_return std::min(dense, sparse) >= at_least ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "once") return skua::run(amain(16, 1, 0));
  if (how == "at-least" && argc > 2) return skua::run(amain(1'024, 5, std::atof(argv[2])));
  if (how.empty()) return skua::run(amain(1'024, 5, 0));
  std::fprintf(stderr, "usage: %s [once | at-least RATIO]\n", argv[0]);
  return 2;
}
