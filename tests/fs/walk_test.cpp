// tests/fs/walk_test.cpp: directories, listed, walked through and removed with all that is in them.
#include "skua/fs/walk.hpp"

#include "fs/files.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = skua::fs;
using fs::file_kind;
using fs::walk_options;
using skua::or_throw;
using skua::task;
using skua_test::error_of;
using skua_test::in_memory;
using skua_test::make_file;
using skua_test::names_in;
using skua_test::open_fds;
using skua_test::temp_directory;

using names = std::set<std::string>;

class fs_walk : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_walk, skua_test::every_kind(), skua_test::name_of_kind);

// Beneath `place`, without it; what could not be read ends with "!".
task<std::multiset<std::string>> found_in(std::string place, walk_options how = walk_options()) {
  std::multiset<std::string> all;
  auto tree = fs::walk(place, how);
  while (auto one = co_await tree.next()) {
    const std::string rest = one->path().substr(place.size());
    const auto slashes = std::count(rest.begin(), rest.end(), '/');
    EXPECT_EQ(one->depth(), static_cast<std::size_t>(slashes)) << rest;
    all.insert(one->error() ? rest + "!" : rest);
  }
  co_return all;
}

using paths = std::multiset<std::string>;

TEST_P(fs_walk, lists_a_directory) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place(in_memory());
    constexpr int many = 3'000;  // several batches
    for (int i = 0; i < many; ++i) make_file(place / ("file_" + std::to_string(i)).c_str(), "");
    std::filesystem::create_directory(place / "directory");
    EXPECT_EQ(::symlink("x", (place / "link").c_str()), 0);
    EXPECT_EQ(::mkfifo((place / "fifo").c_str(), 0600), 0);
    std::map<std::string, file_kind> all;
    auto listing = fs::read_directory(place.path());
    while (auto entry = co_await listing.next()) {
      fs::directory_entry one = or_throw(std::move(*entry));
      EXPECT_NE(one.inode(), 0U);
      const file_kind kind = one.kind();
      EXPECT_TRUE(all.emplace(std::move(one).name(), kind).second) << "twice";
    }
    EXPECT_EQ(all.size(), many + 3U);
    EXPECT_EQ(all["directory"], file_kind::directory);
    EXPECT_EQ(all["link"], file_kind::symlink);
    EXPECT_EQ(all["fifo"], file_kind::fifo);
    EXPECT_EQ(all["file_17"], file_kind::regular);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_walk, lists_nothing_or_says_why_not) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "file", "");
    std::filesystem::create_directory(place / "empty");
    auto empty = fs::read_directory(place / "empty");
    EXPECT_FALSE((co_await empty.next()).has_value());
    const std::pair<std::string, std::errc> cases[] = {
        {place / "none", std::errc::no_such_file_or_directory},
        {place / "file", std::errc::not_a_directory},
        {place.path() + std::string("\0", 1), std::errc::invalid_argument},
        {place / std::string(300, 'n').c_str(), std::errc::filename_too_long}};
    for (const auto& [path, expected] : cases) {
      auto listing = fs::read_directory(path);
      const auto only = co_await listing.next();
      EXPECT_TRUE(only.has_value());
      if (only) {
        EXPECT_EQ(error_of(*only), expected);
      }
      EXPECT_FALSE((co_await listing.next()).has_value());
      auto tree = fs::walk(path);
      const auto root = co_await tree.next();
      EXPECT_TRUE(root.has_value());
      if (root) {
        EXPECT_EQ(root->error(), expected);
        EXPECT_EQ(root->depth(), 0U);
        EXPECT_EQ(root->path(), path);
      }
      EXPECT_FALSE((co_await tree.next()).has_value());
    }
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

void make_tree(const temp_directory& place) {
  std::filesystem::create_directories(place / "a/b/c");
  std::filesystem::create_directories(place / "d");
  make_file(place / "1", "");
  make_file(place / "a/2", "");
  make_file(place / "a/b/3", "");
  make_file(place / "a/b/c/4", "");
}

TEST_P(fs_walk, finds_all_that_is_beneath) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    make_tree(place);
    const paths all = {"/1", "/a", "/a/2", "/a/b", "/a/b/3", "/a/b/c", "/a/b/c/4", "/d"};
    const paths one_level = {"/1", "/a", "/d"};
    const paths two_levels = {"/1", "/a", "/a/2", "/a/b", "/d"};
    EXPECT_EQ(co_await found_in(place.path()), all);
    EXPECT_EQ(co_await found_in(place.path(), walk_options().max_depth(1)), one_level);
    EXPECT_EQ(co_await found_in(place.path(), walk_options().max_depth(2)), two_levels);
    EXPECT_EQ(co_await found_in(place.path(), walk_options().max_depth(0)), paths());
    const auto not_b = walk_options().enter_if(
        [](const fs::walk_entry& one) noexcept { return one.name() != "b"; });
    EXPECT_EQ(co_await found_in(place.path(), not_b), two_levels);
    std::vector<std::string> order;
    auto tree = fs::walk(place.path());
    while (auto one = co_await tree.next()) order.push_back(std::move(*one).path());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto parent =
          std::find(order.begin(), order.end(), order[i].substr(0, order[i].rfind('/')));
      EXPECT_TRUE(parent == order.end() || parent - order.begin() < static_cast<long>(i));
    }
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_walk, follows_links_only_if_asked_and_never_in_circles) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_tree(place);
    EXPECT_EQ(::symlink("..", (place / "a/up").c_str()), 0);
    EXPECT_EQ(::symlink("../a/b", (place / "d/side").c_str()), 0);
    EXPECT_EQ(::symlink("nowhere", (place / "d/lost").c_str()), 0);
    EXPECT_EQ(::symlink("../1", (place / "d/file").c_str()), 0);
    paths all = {"/1", "/a", "/a/2", "/a/b", "/a/b/3", "/a/b/c", "/a/b/c/4", "/d"};
    all.insert({"/a/up", "/d/side", "/d/lost", "/d/file"});
    EXPECT_EQ(co_await found_in(place.path()), all);
    all.insert({"/a/up!", "/d/side/3", "/d/side/c", "/d/side/c/4"});
    EXPECT_EQ(co_await found_in(place.path(), walk_options().follow_symlinks()), all);
    auto tree = fs::walk(place.path(), walk_options().follow_symlinks());
    while (auto one = co_await tree.next()) {
      if (one->name() == "lost") {
        EXPECT_EQ(one->kind(), file_kind::symlink);
      }
      if (one->name() == "file") {
        EXPECT_EQ(one->kind(), file_kind::regular);
      }
      if (one->name() == "up" && one->error()) {
        EXPECT_EQ(one->error(), std::errc::too_many_symbolic_link_levels);
      }
    }
    const auto first = walk_options().follow_symlinks().stop_at_error();
    const paths some = co_await found_in(place.path(), first);
    EXPECT_EQ(some.count("/a/up!"), 1U);
  };
  rt.block_on(body());
}

// Deeper than descriptors are kept open, and than a path can be.
std::string make_deep_tree(const temp_directory& place, int depth) {
  const std::string name(100, 'd');
  skua::unique_fd here(::open(place.path().c_str(), O_PATH | O_CLOEXEC));
  for (int i = 0; i < depth; ++i) {
    EXPECT_EQ(::mkdirat(here.get(), name.c_str(), 0700), 0);
    const skua::unique_fd file(::openat(here.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_TRUE(static_cast<bool>(file));
    here.reset(::openat(here.get(), name.c_str(), O_PATH | O_CLOEXEC));
  }
  return name;
}

TEST_P(fs_walk, goes_as_deep_as_there_are_directories) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    constexpr int depth = 120;
    const std::string name = make_deep_tree(place, depth);
    std::size_t deepest = 0;
    int files = 0;
    auto tree = fs::walk(place.path());
    while (auto one = co_await tree.next()) {
      EXPECT_FALSE(one->error()) << one->error().message();
      deepest = std::max(deepest, one->depth());
      files += one->name() == "file" ? 1 : 0;
    }
    EXPECT_EQ(deepest, static_cast<std::size_t>(depth));
    EXPECT_EQ(files, depth);
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / name.c_str())), 2U * depth - 1);
    EXPECT_EQ(names_in(place.path()), names{"file"});
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_walk, is_dropped_or_stopped_anywhere) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place(in_memory());
    for (int i = 0; i < 40; ++i) {
      const std::string directory = place / std::to_string(i).c_str();
      std::filesystem::create_directory(directory);
      for (int k = 0; k < 60; ++k) make_file(directory + "/" + std::to_string(k), "");
    }
    for (const int taken : {0, 1, 5, 1'500}) {
      auto tree = fs::walk(place.path());
      auto listing = fs::read_directory(place.path());
      for (int i = 0; i < taken; ++i) {
        const auto one = co_await tree.next();
        EXPECT_TRUE(one.has_value());
        if (i < 40) {
          const auto other = co_await listing.next();
          EXPECT_TRUE(other.has_value());
        }
      }
    }
    auto walks = [](std::string path) -> task<> {
      for (;;) {
        auto tree = fs::walk(path);
        while (auto one = co_await tree.next()) EXPECT_FALSE(one->error());
        auto listing = fs::read_directory(path);
        while (auto one = co_await listing.next()) EXPECT_TRUE(one->has_value());
      }
    };
    for (int i = 0; i < 30; ++i) {
      auto endless = skua::spawn(walks(place.path()));
      co_await skua::sleep(std::chrono::microseconds(i * 40));
      endless.abort();
      EXPECT_TRUE((co_await endless.outcome()).stopped());
    }
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_walk, removes_all_and_no_more) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    make_tree(place);
    std::filesystem::create_directory(place / "other");
    make_file(place / "other/precious", "1");
    EXPECT_EQ(::symlink("../other", (place / "a/link").c_str()), 0);
    EXPECT_EQ(::symlink("other", (place / "top").c_str()), 0);
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / "a")), 7U);
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / "a")), 0U) << "nothing is there";
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / "1")), 1U) << "a file";
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / "top/")), 1U) << "a link, however written";
    EXPECT_EQ(or_throw(co_await fs::remove_all(place / "d//")), 1U);
    EXPECT_EQ(names_in(place.path()), names{"other"});
    EXPECT_EQ(names_in(place / "other"), names{"precious"});
    EXPECT_EQ(error_of(co_await fs::remove_all(place / "other/.")), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::remove_all(place / "other/..")), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::remove_all(place.path() + std::string("\0/x", 3))),
              std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::remove_all(place / "other/precious/x")),
              std::errc::not_a_directory);
    EXPECT_EQ(names_in(place / "other"), names{"precious"});
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_walk, that_removes_can_be_stopped_and_begun_again) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place(in_memory());
    for (int i = 0; i < 60; ++i) {
      const std::string directory = place / ("tree/" + std::to_string(i)).c_str();
      std::filesystem::create_directories(directory);
      for (int k = 0; k < 60; ++k) make_file(directory + "/" + std::to_string(k), "");
    }
    for (int i = 0; i < 5; ++i) {
      auto removes = skua::spawn(fs::remove_all(place / "tree"));
      co_await skua::sleep(200us);
      removes.abort();
      (void)co_await removes.outcome();
    }
    EXPECT_TRUE((co_await fs::remove_all(place / "tree")).has_value());
    EXPECT_EQ(names_in(place.path()), names());
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

// Directories come and go while others walk and remove: whatever is found, nobody goes astray.
TEST_P(fs_walk, keeps_to_the_tree_while_others_change_it) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    std::filesystem::create_directories(place / "tree");
    std::filesystem::create_directories(place / "outside");
    make_file(place / "outside/precious", "1");
    auto changes = [](std::string tree, std::string outside) -> task<> {
      for (int i = 0;; ++i) {
        const std::string name = tree + "/" + std::to_string(i % 8);
        co_await fs::create_directories(name + "/sub/sub");
        co_await fs::write_file(name + "/sub/file", {});
        co_await fs::remove_file(name + "_");
        co_await fs::rename(name, name + "_");
        co_await fs::symlink(outside, name);
        co_await fs::remove_all(name + "_");
        co_await fs::remove_file(name);
      }
    };
    auto changing = skua::spawn(changes(place / "tree", place / "outside"));
    for (int i = 0; i < 50; ++i) {
      auto tree = fs::walk(place / "tree");
      while (auto one = co_await tree.next()) EXPECT_NE(one->name(), "precious");
      co_await fs::remove_all(place / "tree/3");
      co_await fs::remove_all(place / "tree/5");
    }
    changing.abort();
    (void)co_await changing.outcome();
    EXPECT_EQ(names_in(place / "outside"), names{"precious"});
  };
  rt.block_on(body());
}

// bench.fs.walk has 100,000.
// Asked just before a directory is gone into.
struct intruder {
  static inline std::string tree;
  static inline std::string outside;

  // Puts a link in the place of the directory.
  static bool replace(const fs::walk_entry& directory) noexcept {
    if (directory.name() != "swapped") return true;
    EXPECT_EQ(::rename(directory.path().c_str(), (outside + "/moved").c_str()), 0);
    EXPECT_EQ(::symlink(outside.c_str(), directory.path().c_str()), 0);
    return true;
  }
  // Moves away the branch that the walk is deep in.
  static bool move(const fs::walk_entry& directory) noexcept {
    if (directory.name() != "end" || ::access((outside + "/moved").c_str(), F_OK) == 0) return true;
    const std::string branch = directory.path().substr(0, tree.size() + 2);  // "/a" or "/b"
    EXPECT_EQ(::rename(branch.c_str(), (outside + "/moved").c_str()), 0);
    return true;
  }
};

TEST_P(fs_walk, is_not_led_out_of_the_tree) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    intruder::tree = place / "tree";
    intruder::outside = place / "outside";
    std::filesystem::create_directories(place / "tree/swapped");
    for (const char* name : {"outside/a", "outside/b"}) {
      std::filesystem::create_directories(place / name);
      make_file(place / name + "/precious", "");
    }
    const paths swapped =
        co_await found_in(intruder::tree, walk_options().enter_if(intruder::replace));
    EXPECT_EQ(swapped, (paths{"/swapped", "/swapped!"}));

    std::filesystem::remove_all(place / "tree");
    std::filesystem::remove_all(place / "outside/moved");
    for (std::string branch : {"tree/a", "tree/b"}) {
      for (int i = 0; i < 20; ++i) branch += "/d";
      std::filesystem::create_directories(place / (branch + "/end").c_str());
    }
    const paths moved = co_await found_in(intruder::tree, walk_options().enter_if(intruder::move));
    for (const std::string& one : moved) EXPECT_EQ(one.find("precious"), std::string::npos) << one;
    EXPECT_EQ(moved.count("!"), 1U) << "the way back to the first is gone";
  };
  rt.block_on(body());
}

// The way back is not ".." there, and farther than directories are kept open.
TEST_P(fs_walk, comes_back_through_links) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    std::string deep = "elsewhere";
    for (int i = 0; i < 20; ++i) deep += "/d";
    std::filesystem::create_directories(place / deep.c_str());
    std::filesystem::create_directories(place / "tree/a");
    std::filesystem::create_directories(place / "tree/b");
    EXPECT_EQ(::symlink("../elsewhere", (place / "tree/link").c_str()), 0);
    const paths all = co_await found_in(place / "tree", walk_options().follow_symlinks());
    EXPECT_EQ(all.size(), 3U + 20U);
    for (const std::string& one : all) EXPECT_NE(one.back(), '!') << one;
  };
  rt.block_on(body());
}

TEST_P(fs_walk, removes_what_others_remove_too) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place(in_memory());
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 20; ++i) {
        std::string deep = place / ("tree/" + std::to_string(i)).c_str();
        for (int k = 0; k < 20; ++k) deep += "/d";
        std::filesystem::create_directories(deep);
      }
      std::vector<skua::join_handle<skua::result<std::uint64_t>>> all;
      for (int i = 0; i < 3; ++i) all.push_back(skua::spawn(fs::remove_all(place / "tree")));
      std::uint64_t sum = 0;
      for (auto& each : all) sum += or_throw(co_await std::move(each));
      EXPECT_EQ(sum, 1U + 20U * 21U) << "each was removed by one of them";
      EXPECT_EQ(names_in(place.path()), names());
    }
  };
  rt.block_on(body());
}

TEST(fs_walk_of_many, finds_ten_thousand_files) {
  const temp_directory place(in_memory());
  for (int i = 0; i < 100; ++i) {
    const std::string directory = place / std::to_string(i).c_str();
    std::filesystem::create_directory(directory);
    for (int k = 0; k < 100; ++k) make_file(directory + "/" + std::to_string(k), "");
  }
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto body = [&]() -> task<> {
    const auto begin = std::chrono::steady_clock::now();
    int files = 0;
    auto tree = fs::walk(place.path());
    while (auto one = co_await tree.next()) files += one->kind() == file_kind::regular ? 1 : 0;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(files, 10'000);
    std::printf("  10,000 files walked in %.1f ms\n", took.count());
    EXPECT_EQ(or_throw(co_await fs::remove_all(place.path())), 10'101U);
  };
  rt.block_on(body());
}

}  // namespace
