// tests/fs/copy_file_test.cpp: copies are whole and the same, or they are not there.
#include "skua/fs/copy_file.hpp"

#include "fs/files.hpp"
#include "skua/runtime/fail_each_operation.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = skua::fs;
using fs::copy_options;
using skua::or_throw;
using skua::task;
using skua_test::content_of;
using skua_test::error_of;
using skua_test::make_file;
using skua_test::names_in;
using skua_test::noise;
using skua_test::open_fds;
using skua_test::temp_directory;
using skua_test::text_of;

using names = std::set<std::string>;

class fs_copy_file : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_copy_file, skua_test::every_kind(), skua_test::name_of_kind);

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::uint64_t allocated(const std::string& path) {
  struct ::stat about{};
  EXPECT_EQ(::stat(path.c_str(), &about), 0);
  return static_cast<std::uint64_t>(about.st_blocks) * 512;
}

TEST_P(fs_copy_file, copies_every_byte) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, std::size_t{4'097}, std::size_t{1'000'003}}) {
      const std::string content = text_of(noise(length));
      make_file(place / "from", content);
      for (const bool plain : {false, true}) {
        const auto how = copy_options().share_nothing(plain);
        EXPECT_EQ(or_throw(co_await fs::copy_file(place / "from", place / "to", how)), length);
        EXPECT_TRUE(content_of(place / "to") == content) << length;
      }
    }
    EXPECT_EQ(names_in(place.path()), (names{"from", "to"}));
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

// Of the size of several pieces; bench.fs.copy has more.
TEST(fs_copy_file_of_64_mib, is_the_same) {
  const temp_directory place;
  const auto content = noise(64 * mebibyte + 12'345);
  make_file(place / "from", text_of(content));
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto body = [&]() -> task<> {
    for (const bool plain : {false, true}) {
      const auto how = copy_options().share_nothing(plain);
      EXPECT_EQ(or_throw(co_await fs::copy_file(place / "from", place / "to", how)),
                content.size());
      EXPECT_TRUE(or_throw(co_await fs::read_file(place / "to")) == content);
    }
  };
  rt.block_on(body());
}

TEST_P(fs_copy_file, keeps_the_holes) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string from = place / "from";
    const auto some = noise(100'000);
    auto file = or_throw(co_await fs::file::create(from));
    for (const std::int64_t at : {0, 4 << 20, 11 << 20})
      EXPECT_TRUE((co_await file.write_all_at(some, at)).has_value());
    EXPECT_TRUE((co_await file.truncate(16 << 20)).has_value());
    EXPECT_TRUE((co_await std::move(file).close()).has_value());
    if (allocated(from) > 2 * mebibyte) co_return;  // no holes here
    const std::string content = content_of(from);
    for (const bool plain : {false, true}) {
      const auto how = copy_options().share_nothing(plain);
      EXPECT_EQ(or_throw(co_await fs::copy_file(from, place / "to", how)), 16 * mebibyte);
      EXPECT_TRUE(content_of(place / "to") == content);
      EXPECT_LE(allocated(place / "to"), 2 * mebibyte);
    }
    auto empty = or_throw(co_await fs::file::create(place / "hole"));
    EXPECT_TRUE((co_await empty.truncate(10 << 20)).has_value());
    EXPECT_EQ(or_throw(co_await fs::copy_file(place / "hole", place / "to")), 10 * mebibyte);
    EXPECT_EQ(allocated(place / "to"), 0U);
  };
  rt.block_on(body());
}

TEST_P(fs_copy_file, replaces_in_one_step_or_not_at_all) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "from", "new");
    make_file(place / "to", "old");
    EXPECT_EQ(::chmod((place / "from").c_str(), 0440), 0);
    EXPECT_EQ(::link((place / "to").c_str(), (place / "other_name").c_str()), 0);
    EXPECT_EQ(error_of(co_await fs::copy_file(place / "from", place / "to",
                                              copy_options().overwrite(false))),
              std::errc::file_exists);
    EXPECT_EQ(content_of(place / "to"), "old");
    EXPECT_TRUE((co_await fs::copy_file(place / "from", place / "to")).has_value());
    EXPECT_EQ(content_of(place / "to"), "new");
    EXPECT_EQ(content_of(place / "other_name"), "old");
    struct ::stat about{};
    EXPECT_EQ(::stat((place / "to").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0440U);
    EXPECT_TRUE(
        (co_await fs::copy_file(place / "from", place / "fresh", copy_options().overwrite(false)))
            .has_value());
    EXPECT_EQ(::symlink("from", (place / "link").c_str()), 0);
    EXPECT_TRUE((co_await fs::copy_file(place / "link", place / "by_link")).has_value());
    EXPECT_TRUE((co_await fs::copy_file(place / "from", place / "link")).has_value());
    EXPECT_FALSE(std::filesystem::is_symlink(place / "link"));
    EXPECT_TRUE((co_await fs::copy_file(place / "from", place / "from")).has_value());
    for (const char* name : {"from", "to", "fresh", "by_link", "link"})
      EXPECT_EQ(content_of(place / name), "new") << name;
    EXPECT_EQ(names_in(place.path()),
              (names{"by_link", "fresh", "from", "link", "other_name", "to"}));
  };
  rt.block_on(body());
}

TEST_P(fs_copy_file, goes_between_file_systems_and_from_files_without_length) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    EXPECT_TRUE((co_await fs::copy_file("/proc/version", place / "version")).has_value());
    EXPECT_EQ(content_of(place / "version"), content_of("/proc/version"));
    auto other = co_await fs::temp_directory::create("/dev/shm");
    if (!other) co_return;
    const std::string content = text_of(noise(3 * mebibyte + 1));
    make_file(place / "from", content);
    EXPECT_TRUE((co_await fs::copy_file(place / "from", *other / "to")).has_value());
    EXPECT_TRUE(content_of(*other / "to") == content);
    EXPECT_TRUE((co_await fs::copy_file(*other / "to", place / "back")).has_value());
    EXPECT_TRUE(content_of(place / "back") == content);
  };
  rt.block_on(body());
}

TEST_P(fs_copy_file, has_errors_by_name) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "file", "x");
    std::filesystem::create_directory(place / "directory");
    EXPECT_EQ(::mkfifo((place / "fifo").c_str(), 0600), 0);
    const auto copy = [&](std::string from, std::string to) -> task<std::error_code> {
      const auto copied = co_await fs::copy_file(std::move(from), std::move(to));
      co_return error_of(copied);
    };
    const std::string to = place / "to";
    const std::string zero = place.path() + std::string("/a\0b", 4);
    EXPECT_EQ(co_await copy(place / "none", to), std::errc::no_such_file_or_directory);
    EXPECT_EQ(co_await copy(place / "file/x", to), std::errc::not_a_directory);
    EXPECT_EQ(co_await copy(place / "directory", to), std::errc::is_a_directory);
    EXPECT_EQ(co_await copy(place / "fifo", to), std::errc::invalid_argument);
    EXPECT_EQ(co_await copy(zero, to), std::errc::invalid_argument);
    EXPECT_EQ(co_await copy(place / "file", zero), std::errc::invalid_argument);
    EXPECT_EQ(co_await copy(place / "file", place / "directory"), std::errc::is_a_directory);
    EXPECT_EQ(co_await copy(place / "file", place / "none/x"),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(co_await copy(place / "file", place / std::string(300, 'n').c_str()),
              std::errc::filename_too_long);
    EXPECT_EQ(names_in(place.path()), (names{"directory", "fifo", "file"}));
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_copy_file, leaves_the_target_alone_whatever_fails_or_stops_it) {
  const temp_directory place;
  const std::string content = text_of(noise(50'000));
  make_file(place / "from", content);
  make_file(place / "to", "old");
  const std::size_t before = open_fds();
  const auto look = [&](bool may_be_old) {
    const std::string now = content_of(place / "to");
    EXPECT_TRUE(now == content || (may_be_old && now == "old"));
    EXPECT_EQ(names_in(place.path()), (names{"from", "to"}));
    make_file(place / "to", "old");
  };
  const auto how = copy_options().sync();
  const auto failed = skua::fail_each_operation(
      settings_of(GetParam(), log), std::errc::io_error, [&](skua::runtime& rt) {
        const auto done = rt.block_on(fs::copy_file(place / "from", place / "to", how));
        look(!done.has_value());
      });
  EXPECT_GE(failed, 8U);
  const int stopped = skua_test::stop_at_each_operation(
      GetParam(), [&] { return fs::copy_file(place / "from", place / "to", how); },
      [&](int, bool was_stopped) { look(was_stopped); });
  EXPECT_GE(stopped, 8);
  EXPECT_EQ(open_fds(), before);
}

// Whenever that comes: each operation is held up in turn, and meanwhile another makes the file.
TEST_P(fs_copy_file, does_not_replace_what_came_meanwhile) {
  for (std::uint64_t number = 1; number < 12; ++number) {
    const temp_directory place;
    make_file(place / "from", "ours");
    skua::fault_plan plan;
    plan.delay(number, 20ms);
    skua::config settings = GetParam().settings();
    settings.faults = &plan;
    auto rt = skua_test::started(settings);
    auto body = [&]() -> task<> {
      const auto how = copy_options().overwrite(false);
      auto copies = skua::spawn(fs::copy_file(place / "from", place / "to", how));
      while (!copies.done() && plan.begun() < number) co_await skua::sleep(100us);
      const bool first = ::symlink("nowhere", (place / "to").c_str()) == 0;
      const auto done = co_await std::move(copies);
      EXPECT_NE(first, done.has_value()) << number;
      EXPECT_EQ(std::filesystem::is_symlink(place / "to"), first) << number;
      EXPECT_EQ(names_in(place.path()), (names{"from", "to"})) << number;
    };
    rt.block_on(body());
  }
}

// Between two pieces, that is.
TEST_P(fs_copy_file, is_stopped_in_the_middle) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "from", text_of(noise(40 * mebibyte)));
    int stopped = 0;
    for (int i = 0; i < 6; ++i) {
      auto copies = skua::spawn(fs::copy_file(place / "from", place / "to"));
      co_await skua::sleep(std::chrono::milliseconds(i));
      copies.abort();
      const bool was_stopped = (co_await copies.outcome()).stopped();
      stopped += was_stopped ? 1 : 0;
      EXPECT_EQ(names_in(place.path()), was_stopped ? names{"from"} : (names{"from", "to"}));
      std::filesystem::remove(place / "to");
    }
    EXPECT_GT(stopped, 0);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
