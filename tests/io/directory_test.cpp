// tests/io/directory_test.cpp: names of files: made, moved, linked and removed.
#include "skua/io/file.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace {

namespace io = skua::io;
namespace fs = std::filesystem;
using skua::task;
using skua::unique_fd;
using skua_test::error_of;
using skua_test::temp_directory;

constexpr auto missing = std::errc::no_such_file_or_directory;
constexpr auto exists = std::errc::file_exists;
constexpr auto bad_fd = std::errc::bad_file_descriptor;

/// A directory with two files in it, and a descriptor for it.
struct names {
  names() : at(::open(place.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    std::ofstream(a) << "A";
    std::ofstream(b) << "B";
  }
  [[nodiscard]] static std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  temp_directory place;
  const std::string a = place / "a";
  const std::string b = place / "b";
  const std::string fresh = place / "fresh";
  const std::string none = place / "none";
  const std::string nowhere = place / "none/x";
  const unique_fd at;
};

class directories : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, directories, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(directories, rename_what_is_in_them) {
  auto rt = start();
  auto body = []() -> task<> {
    const names in;
    EXPECT_TRUE((co_await io::rename(in.a.c_str(), in.fresh.c_str())).has_value());
    EXPECT_FALSE(fs::exists(in.a));
    EXPECT_EQ(names::content_of(in.fresh), "A");
    const auto kept = co_await io::rename(in.fresh.c_str(), in.b.c_str(), RENAME_NOREPLACE);
    EXPECT_EQ(error_of(kept), exists);
    EXPECT_EQ(names::content_of(in.b), "B");
    const auto swapped = co_await io::rename(in.fresh.c_str(), in.b.c_str(), RENAME_EXCHANGE);
    EXPECT_TRUE(swapped.has_value());
    EXPECT_EQ(names::content_of(in.b), "A");
    EXPECT_TRUE((co_await io::rename(in.fresh.c_str(), in.b.c_str())).has_value());
    EXPECT_EQ(names::content_of(in.b), "B");
    const auto moved = co_await io::rename("b", "a", 0, in.at.get(), in.at.get());
    EXPECT_TRUE(moved.has_value());
    EXPECT_EQ(names::content_of(in.a), "B");
  };
  rt.block_on(body());
}

TEST_P(directories, refuse_to_rename_nonsense) {
  auto rt = start();
  auto body = []() -> task<> {
    const names in;
    EXPECT_EQ(error_of(co_await io::rename(in.none.c_str(), in.fresh.c_str())), missing);
    EXPECT_EQ(error_of(co_await io::rename(in.a.c_str(), in.nowhere.c_str())), missing);
    EXPECT_EQ(error_of(co_await io::rename(in.a.c_str(), in.b.c_str(), 1U << 20)),
              std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::rename("a", "c", 0, 999'999, in.at.get())), bad_fd);
    EXPECT_EQ(error_of(co_await io::rename("a", "c", 0, in.at.get(), 999'999)), bad_fd);
    EXPECT_TRUE((co_await io::mkdir(in.fresh.c_str(), 0700)).has_value());
    EXPECT_EQ(error_of(co_await io::rename(in.a.c_str(), in.fresh.c_str())),
              std::errc::is_a_directory);
    EXPECT_EQ(names::content_of(in.a), "A");
  };
  rt.block_on(body());
}

TEST_P(directories, lose_what_is_unlinked) {
  auto rt = start();
  auto body = []() -> task<> {
    const names in;
    EXPECT_TRUE((co_await io::unlink(in.a.c_str())).has_value());
    EXPECT_FALSE(fs::exists(in.a));
    EXPECT_EQ(error_of(co_await io::unlink(in.a.c_str())), missing);
    EXPECT_TRUE((co_await io::unlink("b", 0, in.at.get())).has_value());
    EXPECT_FALSE(fs::exists(in.b));
    EXPECT_EQ(error_of(co_await io::unlink("b", 0, 999'999)), bad_fd);
    const auto directory = co_await io::unlink(in.place.path().c_str());
    EXPECT_EQ(error_of(directory), std::errc::is_a_directory);
    const auto odd = co_await io::unlink(in.a.c_str(), 1 << 30);
    EXPECT_EQ(error_of(odd), std::errc::invalid_argument);
  };
  rt.block_on(body());
}

TEST_P(directories, are_made_and_removed) {
  auto rt = start();
  auto body = []() -> task<> {
    const names in;
    const std::string inner = in.fresh + "/inner";
    EXPECT_TRUE((co_await io::mkdir(in.fresh.c_str(), 0700)).has_value());
    EXPECT_TRUE(fs::is_directory(in.fresh));
    struct ::stat about{};
    EXPECT_EQ(::stat(in.fresh.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0700U);
    EXPECT_TRUE((co_await io::mkdir("fresh/inner", 0700, in.at.get())).has_value());
    EXPECT_TRUE(fs::is_directory(inner));
    EXPECT_EQ(error_of(co_await io::mkdir(in.fresh.c_str(), 0700)), exists);
    EXPECT_EQ(error_of(co_await io::mkdir(in.nowhere.c_str(), 0700)), missing);
    EXPECT_EQ(error_of(co_await io::mkdir((in.a + "/x").c_str(), 0700)),
              std::errc::not_a_directory);
    EXPECT_EQ(error_of(co_await io::mkdir("x", 0700, 999'999)), bad_fd);

    EXPECT_EQ(error_of(co_await io::unlink(in.fresh.c_str(), AT_REMOVEDIR)),
              std::errc::directory_not_empty);
    EXPECT_TRUE((co_await io::unlink(inner.c_str(), AT_REMOVEDIR)).has_value());
    EXPECT_TRUE((co_await io::unlink("fresh", AT_REMOVEDIR, in.at.get())).has_value());
    EXPECT_FALSE(fs::exists(in.fresh));
    EXPECT_EQ(error_of(co_await io::unlink(in.a.c_str(), AT_REMOVEDIR)),
              std::errc::not_a_directory);
    EXPECT_EQ(error_of(co_await io::unlink(in.none.c_str(), AT_REMOVEDIR)), missing);
  };
  rt.block_on(body());
}

TEST_P(directories, give_a_file_another_name) {
  auto rt = start();
  auto body = []() -> task<> {
    const names in;
    EXPECT_TRUE((co_await io::link(in.a.c_str(), in.fresh.c_str())).has_value());
    EXPECT_EQ(fs::hard_link_count(in.a), 2U);
    EXPECT_EQ(names::content_of(in.fresh), "A");
    EXPECT_TRUE((co_await io::link("a", "third", 0, in.at.get(), in.at.get())).has_value());
    EXPECT_EQ(fs::hard_link_count(in.a), 3U);
    EXPECT_EQ(error_of(co_await io::link(in.a.c_str(), in.b.c_str())), exists);
    EXPECT_EQ(error_of(co_await io::link(in.none.c_str(), (in.place / "y").c_str())), missing);
    EXPECT_EQ(error_of(co_await io::link(in.a.c_str(), in.nowhere.c_str())), missing);
    EXPECT_EQ(error_of(co_await io::link("a", "y", 0, 999'999, in.at.get())), bad_fd);
    EXPECT_EQ(error_of(co_await io::link("a", "y", 0, in.at.get(), 999'999)), bad_fd);
    EXPECT_EQ(error_of(co_await io::link("a", "y", 1 << 30, in.at.get(), in.at.get())),
              std::errc::invalid_argument);
    const auto whole = co_await io::link(in.place.path().c_str(), (in.place / "y").c_str());
    EXPECT_EQ(error_of(whole), std::errc::operation_not_permitted) << "of a directory";
  };
  rt.block_on(body());
}

TEST_P(directories, point_elsewhere) {
  auto rt = start();
  auto body = []() -> task<> {
    const names in;
    EXPECT_TRUE((co_await io::symlink("a", in.fresh.c_str())).has_value());
    EXPECT_EQ(fs::read_symlink(in.fresh), "a");
    EXPECT_EQ(names::content_of(in.fresh), "A");
    EXPECT_TRUE((co_await io::symlink("not there", "third", in.at.get())).has_value());
    EXPECT_EQ(fs::read_symlink(in.place / "third"), "not there") << "need not exist";
    EXPECT_TRUE(
        (co_await io::link(in.fresh.c_str(), in.none.c_str(), AT_SYMLINK_FOLLOW)).has_value());
    EXPECT_FALSE(fs::is_symlink(in.none)) << "of the file, not of what points to it";
    EXPECT_EQ(error_of(co_await io::symlink("a", in.b.c_str())), exists);
    EXPECT_EQ(error_of(co_await io::symlink("a", (in.place / "gone/x").c_str())), missing);
    EXPECT_EQ(error_of(co_await io::symlink("", (in.place / "y").c_str())), missing);
    EXPECT_EQ(error_of(co_await io::symlink("a", "y", 999'999)), bad_fd);
  };
  rt.block_on(body());
}

}  // namespace
