// tests/fs/operations_test.cpp: files and directories by their paths, and every error of theirs.
#include "skua/fs/operations.hpp"

#include "fs/files.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/forked.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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
using skua::task;
using skua_test::content_of;
using skua_test::error_of;
using skua_test::make_file;
using skua_test::names_in;
using skua_test::open_fds;
using skua_test::temp_directory;

using names = std::set<std::string>;

class fs_operations : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_operations, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(fs_operations, tell_about_files) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    make_file(path, "12345");
    EXPECT_EQ(::chmod(path.c_str(), 0640), 0);
    EXPECT_EQ(::link(path.c_str(), (place / "again").c_str()), 0);
    EXPECT_EQ(::symlink("file", (place / "link").c_str()), 0);
    const fs::file_info about = or_throw(co_await fs::metadata(place / "link"));
    struct ::stat expected{};
    EXPECT_EQ(::stat(path.c_str(), &expected), 0);
    EXPECT_EQ(about.kind(), fs::file_kind::regular);
    EXPECT_EQ(about.size(), 5U);
    EXPECT_EQ(about.allocated(), static_cast<std::uint64_t>(expected.st_blocks) * 512);
    EXPECT_EQ(about.permissions(), 0640U);
    EXPECT_EQ(about.inode(), expected.st_ino);
    EXPECT_EQ(about.links(), 2U);
    EXPECT_EQ(about.user(), expected.st_uid);
    EXPECT_EQ(about.group(), expected.st_gid);
    EXPECT_EQ(about.modified(), expected.st_mtim.tv_sec * 1'000'000'000 + expected.st_mtim.tv_nsec);
    EXPECT_EQ(about.changed(), expected.st_ctim.tv_sec * 1'000'000'000 + expected.st_ctim.tv_nsec);
    EXPECT_EQ(about.accessed(), expected.st_atim.tv_sec * 1'000'000'000 + expected.st_atim.tv_nsec);
    const fs::file_info again = or_throw(co_await fs::metadata(place / "again"));
    EXPECT_TRUE(about.same_file(again));
    const fs::file_info link = or_throw(co_await fs::symlink_metadata(place / "link"));
    EXPECT_TRUE(link.is_symlink());
    EXPECT_FALSE(about.same_file(link));
    const std::filesystem::path typed = path;
    EXPECT_TRUE(or_throw(co_await fs::exists(typed))) << "a std::filesystem::path is taken";
  };
  rt.block_on(body());
}

TEST_P(fs_operations, know_every_kind_of_file) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    EXPECT_EQ(::mkfifo((place / "fifo").c_str(), 0600), 0);
    const skua::unique_fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    (place / "socket").copy(at.sun_path, sizeof at.sun_path - 1);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(or_throw(co_await fs::metadata(place / "fifo")).kind(), fs::file_kind::fifo);
    EXPECT_EQ(or_throw(co_await fs::metadata(place / "socket")).kind(), fs::file_kind::socket);
    EXPECT_EQ(or_throw(co_await fs::metadata(place.path())).kind(), fs::file_kind::directory);
    EXPECT_EQ(or_throw(co_await fs::metadata("/dev/null")).kind(), fs::file_kind::character_device);
    EXPECT_EQ(fs::kind_of_mode(S_IFBLK), fs::file_kind::block_device);
    EXPECT_EQ(fs::kind_of_mode(0), fs::file_kind::unknown);
    EXPECT_EQ(name_of(fs::file_kind::symlink), "symlink");
  };
  rt.block_on(body());
}

TEST_P(fs_operations, say_whether_something_is_there) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "file", "");
    EXPECT_EQ(::symlink("nowhere", (place / "dangling").c_str()), 0);
    EXPECT_EQ(::symlink("loop", (place / "loop").c_str()), 0);
    EXPECT_TRUE(or_throw(co_await fs::exists(place / "file")));
    EXPECT_FALSE(or_throw(co_await fs::exists(place / "none")));
    EXPECT_FALSE(or_throw(co_await fs::exists(place / "file/none")));
    EXPECT_FALSE(or_throw(co_await fs::exists(place / "dangling")));
    EXPECT_EQ(error_of(co_await fs::exists(place / "loop")),
              std::errc::too_many_symbolic_link_levels);
  };
  rt.block_on(body());
}

TEST_P(fs_operations, make_directories_and_remove_them) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    EXPECT_TRUE((co_await fs::create_directory(place / "one", 0700)).has_value());
    EXPECT_EQ(error_of(co_await fs::create_directory(place / "one")), std::errc::file_exists);
    EXPECT_EQ(error_of(co_await fs::create_directory(place / "x/y")),
              std::errc::no_such_file_or_directory);
    EXPECT_TRUE((co_await fs::create_directories(place / "a/b//c/d/")).has_value());
    EXPECT_TRUE(std::filesystem::is_directory(place / "a/b/c/d"));
    EXPECT_TRUE((co_await fs::create_directories(place / "a/b/c")).has_value());
    EXPECT_TRUE((co_await fs::create_directories(place.path())).has_value());
    EXPECT_TRUE((co_await fs::create_directories("/")).has_value());
    make_file(place / "file", "");
    EXPECT_EQ(error_of(co_await fs::create_directories(place / "file")), std::errc::file_exists);
    EXPECT_EQ(error_of(co_await fs::create_directories(place / "file/x/y")),
              std::errc::not_a_directory);
    EXPECT_EQ(error_of(co_await fs::create_directories("")), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(co_await fs::remove_directory(place / "a")), std::errc::directory_not_empty);
    EXPECT_EQ(error_of(co_await fs::remove_directory(place / "file")), std::errc::not_a_directory);
    EXPECT_EQ(error_of(co_await fs::remove_file(place / "one")), std::errc::is_a_directory);
    EXPECT_TRUE((co_await fs::remove_directory(place / "one")).has_value());
    EXPECT_TRUE((co_await fs::remove_file(place / "file")).has_value());
    EXPECT_EQ(error_of(co_await fs::remove_file(place / "file")),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(names_in(place.path()), names{"a"});
  };
  rt.block_on(body());
}

TEST_P(fs_operations, of_several_tasks_make_the_same_directories) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    std::vector<skua::join_handle<skua::result<void>>> all;
    for (int i = 0; i < 16; ++i)
      all.push_back(skua::spawn(fs::create_directories(place / "a/b/c/d/e/f/g")));
    for (auto& one : all) {
      const auto made = co_await std::move(one);
      EXPECT_TRUE(made.has_value());
    }
    EXPECT_TRUE(std::filesystem::is_directory(place / "a/b/c/d/e/f/g"));
  };
  rt.block_on(body());
}

TEST_P(fs_operations, give_names_and_follow_links) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "old", "content");
    EXPECT_TRUE((co_await fs::rename(place / "old", place / "new")).has_value());
    EXPECT_TRUE((co_await fs::hard_link(place / "new", place / "hard")).has_value());
    EXPECT_TRUE((co_await fs::symlink("new", place / "soft")).has_value());
    EXPECT_EQ(names_in(place.path()), (names{"hard", "new", "soft"}));
    EXPECT_EQ(content_of(place / "soft"), "content");
    EXPECT_EQ(or_throw(co_await fs::read_link(place / "soft")), "new");
    const std::string real = std::filesystem::canonical(place / "new").string();
    EXPECT_EQ(or_throw(co_await fs::canonical(place / "./././soft")), real);
    const std::string far(3'000, 'x');
    EXPECT_TRUE((co_await fs::symlink(far, place / "far")).has_value());
    EXPECT_EQ(or_throw(co_await fs::read_link(place / "far")), far);
    EXPECT_TRUE((co_await fs::set_permissions(place / "soft", 0604)).has_value());
    EXPECT_EQ(or_throw(co_await fs::metadata(place / "new")).permissions(), 0604U);

    EXPECT_EQ(error_of(co_await fs::read_link(place / "new")), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::symlink("x", place / "soft")), std::errc::file_exists);
    EXPECT_EQ(error_of(co_await fs::hard_link(place / "new", place / "soft")),
              std::errc::file_exists);
    EXPECT_EQ(error_of(co_await fs::canonical(place / "far")), std::errc::filename_too_long);
    std::filesystem::create_directory(place / "directory");
    EXPECT_EQ(error_of(co_await fs::rename(place / "new", place / "directory")),
              std::errc::is_a_directory);
    EXPECT_EQ(error_of(co_await fs::rename(place / "new", "/proc/x")),
              std::errc::cross_device_link);
  };
  rt.block_on(body());
}

TEST_P(fs_operations, refuse_paths_that_are_not_there_or_no_paths) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string none = place / "none";
    constexpr auto missing = std::errc::no_such_file_or_directory;
    EXPECT_EQ(error_of(co_await fs::metadata(none)), missing);
    EXPECT_EQ(error_of(co_await fs::symlink_metadata(none)), missing);
    EXPECT_EQ(error_of(co_await fs::remove_directory(none)), missing);
    EXPECT_EQ(error_of(co_await fs::rename(none, place / "x")), missing);
    EXPECT_EQ(error_of(co_await fs::hard_link(none, place / "x")), missing);
    EXPECT_EQ(error_of(co_await fs::symlink("x", none + "/x")), missing);
    EXPECT_EQ(error_of(co_await fs::read_link(none)), missing);
    EXPECT_EQ(error_of(co_await fs::canonical(none)), missing);
    EXPECT_EQ(error_of(co_await fs::set_permissions(none, 0600)), missing);

    const std::string zero = place.path() + std::string("/a\0b", 4);
    const std::string good = place / "good";
    make_file(good, "");
    constexpr auto invalid = std::errc::invalid_argument;
    EXPECT_EQ(error_of(co_await fs::metadata(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::symlink_metadata(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::exists(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::create_directory(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::create_directories(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::remove_file(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::remove_directory(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::rename(zero, good)), invalid);
    EXPECT_EQ(error_of(co_await fs::rename(good, zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::hard_link(zero, good)), invalid);
    EXPECT_EQ(error_of(co_await fs::hard_link(good, zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::symlink(zero, good)), invalid);
    EXPECT_EQ(error_of(co_await fs::symlink(good, zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::read_link(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::canonical(zero)), invalid);
    EXPECT_EQ(error_of(co_await fs::set_permissions(zero, 0600)), invalid);
    EXPECT_EQ(names_in(place.path()), names{"good"});

    const std::string long_name = place / std::string(300, 'n').c_str();
    constexpr auto too_long = std::errc::filename_too_long;
    EXPECT_EQ(error_of(co_await fs::metadata(long_name)), too_long);
    EXPECT_EQ(error_of(co_await fs::create_directory(long_name)), too_long);
    EXPECT_EQ(error_of(co_await fs::create_directories(long_name)), too_long);
    EXPECT_EQ(error_of(co_await fs::canonical(long_name)), too_long);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

// In a process of its own, which is nobody's: the tests may be run by one who may do everything.
TEST_P(fs_operations, of_those_who_may_not_are_refused) {
  const temp_directory place;
  std::filesystem::create_directory(place / "locked");
  make_file(place / "locked/file", "secret");
  make_file(place / "unreadable", "secret");
  ASSERT_EQ(::chmod(place.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((place / "locked").c_str(), 0000), 0);
  ASSERT_EQ(::chmod((place / "unreadable").c_str(), 0000), 0);
  const skua::config settings = GetParam().settings();
  skua_test::forked child;
  if (child.fork()) {
    if (::getuid() == 0 && ::setuid(65'534) != 0) ::_exit(77);
    auto rt = skua_test::started(settings);
    auto body = [&]() -> task<bool> {
      bool all = true;
      const auto denied = [&](const char* what, const std::error_code& error) {
        if (error == std::errc::permission_denied) return;
        std::fprintf(stderr, "%s: %s\n", what, error.message().c_str());
        all = false;
      };
      const std::string file = place / "locked/file";
      denied("open", error_of(co_await fs::file::open(place / "unreadable")));
      denied("metadata", error_of(co_await fs::metadata(file)));
      denied("exists", error_of(co_await fs::exists(file)));
      denied("remove_file", error_of(co_await fs::remove_file(file)));
      denied("rename", error_of(co_await fs::rename(file, place / "x")));
      denied("canonical", error_of(co_await fs::canonical(file)));
      denied("create_directory", error_of(co_await fs::create_directory(place / "x")));
      denied("read_file", error_of(co_await fs::read_file(place / "unreadable")));
      denied("write_file", error_of(co_await fs::write_file(place / "x", {})));
      denied("write_file_atomic", error_of(co_await fs::write_file_atomic(place / "x", {})));
      denied("copy_file", error_of(co_await fs::copy_file(place / "unreadable", "/tmp/x")));
      denied("remove_all", error_of(co_await fs::remove_all(place / "locked")));
      denied("temp_file", error_of(co_await fs::temp_file::create(place.path())));
      auto listing = fs::read_directory(place / "locked");
      const auto entry = co_await listing.next();
      if (entry) denied("read_directory", error_of(*entry));
      int found = 0;
      auto tree = fs::walk(place.path());
      while (auto one = co_await tree.next()) {
        if (one->error()) denied("walk", one->error());
        if (one->error() && one->name() != "locked") all = false;
        ++found;
      }
      co_return all&& entry&& found == 3;
    };
    ::_exit(rt.block_on(body()) ? 0 : 1);
  }
  child.join();
  EXPECT_TRUE(child.exited_well()) << child.end();
  ::chmod((place / "locked").c_str(), 0700);
}

TEST_P(fs_operations, that_are_stopped_have_happened_or_not) {
  const temp_directory place;
  const auto scenario = [&]() -> task<> {
    co_await fs::create_directories(place / "a/b/c");
    co_await fs::rename(place / "a/b/c", place / "a/b/d");
    co_await fs::symlink("x", place / "a/link");
    co_await fs::read_link(place / "a/link");
    co_await fs::metadata(place / "a/b");
    co_await fs::canonical(place / "a/b");
  };
  const std::size_t before = open_fds();
  const int stopped = skua_test::stop_at_each_operation(GetParam(), scenario, [&](int, bool) {
    std::filesystem::remove_all(place / "a");
    EXPECT_EQ(names_in(place.path()), names());
  });
  EXPECT_GE(stopped, 7);
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
