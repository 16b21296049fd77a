// tests/fs/short_reads_test.cpp: directories of which a call gives less than there is.
#include "fs/files.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

namespace {

std::atomic<bool> first_calls_are_short = false;

using getdents64_function = ssize_t(int, void*, std::size_t);

}  // namespace

// In place of the C library's: as if a signal had come as soon as the dots were there.
extern "C" ssize_t getdents64(int fd, void* into, std::size_t length) noexcept {
  static auto* const real =
      reinterpret_cast<getdents64_function*>(::dlsym(RTLD_NEXT, "getdents64"));
  constexpr std::size_t both_dots = 48;
  if (first_calls_are_short && ::lseek(fd, 0, SEEK_CUR) == 0) length = both_dots;
  return real(fd, into, length);
}

namespace {

namespace fs = skua::fs;
using skua::or_throw;
using skua::task;
using names = std::set<std::string>;

class fs_short_reads : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_short_reads, skua_test::every_kind(), skua_test::name_of_kind);

task<names> found_in(std::string place) {
  names all;
  auto tree = fs::walk(place);
  while (auto one = co_await tree.next()) all.insert(one->path().substr(place.size()));
  co_return all;
}
task<names> listed_in(std::string place) {
  names all;
  auto entries = fs::read_directory(std::move(place));
  while (auto one = co_await entries.next()) all.insert(or_throw(std::move(*one)).name());
  co_return all;
}

TEST_P(fs_short_reads, do_not_end_a_directory) {
  auto rt = start();
  auto body = []() -> task<> {
    const skua_test::temp_directory place(skua_test::in_memory());
    std::filesystem::create_directories(place / "a/b");
    skua_test::make_file(place / "a/1", "");
    skua_test::make_file(place / "a/b/2", "");
    const names listed{"1", "b"};
    const names found{"/a", "/a/1", "/a/b", "/a/b/2"};
    first_calls_are_short = true;
    EXPECT_EQ(co_await listed_in(place / "a"), listed);
    EXPECT_EQ(co_await found_in(place.path()), found);
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / "a")), 4U);
    first_calls_are_short = false;
    EXPECT_EQ(skua_test::names_in(place.path()), names());
  };
  rt.block_on(body());
}

}  // namespace
