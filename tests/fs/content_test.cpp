// tests/fs/content_test.cpp: whole files, read and written; files and directories that do not last.
#include "skua/fs/content.hpp"

#include "fs/files.hpp"
#include "skua/runtime/fail_each_operation.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace fs = skua::fs;
using fs::write_options;
using skua::or_return;
using skua::or_throw;
using skua::result;
using skua::task;
using skua_test::bytes_of;
using skua_test::content_of;
using skua_test::error_of;
using skua_test::make_file;
using skua_test::names_in;
using skua_test::noise;
using skua_test::open_fds;
using skua_test::temp_directory;

using names = std::set<std::string>;

class fs_content : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_content, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(fs_content, is_read_as_a_whole) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "text", "some text");
    make_file(place / "empty", "");
    EXPECT_EQ(or_throw(co_await fs::read_text(place / "text")), "some text");
    EXPECT_EQ(or_throw(co_await fs::read_text(place / "empty")), "");
    const auto big = noise(fs::file::chunk * 5 + 3);
    make_file(place / "big", skua_test::text_of(big));
    EXPECT_TRUE(or_throw(co_await fs::read_file(place / "big")) == big);
    const std::string version = or_throw(co_await fs::read_text("/proc/version"));
    EXPECT_EQ(version, content_of("/proc/version")) << "whose length is said to be 0";
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_content, is_refused_beyond_a_limit) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "ten", "0123456789");
    EXPECT_EQ(or_throw(co_await fs::read_text(place / "ten", 10)), "0123456789");
    EXPECT_EQ(error_of(co_await fs::read_text(place / "ten", 9)), skua::errc::limit_exceeded);
    EXPECT_EQ(error_of(co_await fs::read_file(place / "ten", 0)), skua::errc::limit_exceeded);
    make_file(place / "empty", "");
    EXPECT_EQ(or_throw(co_await fs::read_text(place / "empty", 0)), "");
    EXPECT_EQ(error_of(co_await fs::read_text("/dev/zero", 100'000)), skua::errc::limit_exceeded);
    EXPECT_EQ(error_of(co_await fs::read_text("/proc/version", 10)), skua::errc::limit_exceeded);
  };
  rt.block_on(body());
}

TEST_P(fs_content, is_written_as_a_whole) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    EXPECT_TRUE((co_await fs::write_file(path, bytes_of("first, and long"))).has_value());
    EXPECT_TRUE(
        (co_await fs::write_file(path, bytes_of("second"), write_options().sync())).has_value());
    EXPECT_EQ(content_of(path), "second");
    const auto big = noise(fs::file::chunk * 3 + 3);
    EXPECT_TRUE((co_await fs::write_file(path, big)).has_value());
    EXPECT_TRUE(content_of(path) == skua_test::text_of(big));
    const auto secret = write_options().mode(0600);
    EXPECT_TRUE((co_await fs::write_file(place / "new", bytes_of(""), secret)).has_value());
    struct ::stat about{};
    EXPECT_EQ(::stat((place / "new").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0600U);
  };
  rt.block_on(body());
}

TEST_P(fs_content, has_errors_by_name) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "file", "x");
    const std::string zero = place.path() + std::string("/a\0b", 4);
    EXPECT_EQ(error_of(co_await fs::read_file(place / "none")),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(co_await fs::read_file(place.path())), std::errc::is_a_directory);
    EXPECT_EQ(error_of(co_await fs::read_text(place / "file/x")), std::errc::not_a_directory);
    EXPECT_EQ(error_of(co_await fs::read_file(zero)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::write_file(zero, bytes_of("x"))), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::write_file(place.path(), bytes_of("x"))),
              std::errc::is_a_directory);
    EXPECT_EQ(error_of(co_await fs::write_file("/dev/full", bytes_of("x"))),
              std::errc::no_space_on_device);
    EXPECT_EQ(error_of(co_await fs::write_file_atomic(zero, bytes_of("x"))),
              std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await fs::write_file_atomic(place / "none/x", bytes_of("x"))),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(co_await fs::write_file_atomic(place.path(), bytes_of("x"))),
              std::errc::is_a_directory);
    EXPECT_EQ(error_of(co_await fs::write_file_atomic(place / std::string(300, 'n').c_str(),
                                                      bytes_of("x"))),
              std::errc::filename_too_long);
    EXPECT_EQ(names_in(place.path()), names{"file"}) << "nothing is left";
  };
  rt.block_on(body());
}

TEST_P(fs_content, is_replaced_in_one_step) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    make_file(path, "old");
    EXPECT_EQ(::link(path.c_str(), (place / "other_name").c_str()), 0);
    EXPECT_EQ(::symlink("file", (place / "link").c_str()), 0);
    const auto how = write_options().sync().sync_directory().mode(0640);
    EXPECT_TRUE((co_await fs::write_file_atomic(path, bytes_of("new"), how)).has_value());
    EXPECT_EQ(content_of(path), "new");
    EXPECT_EQ(content_of(place / "other_name"), "old");
    struct ::stat about{};
    EXPECT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0640U);
    EXPECT_TRUE((co_await fs::write_file_atomic(place / "link", bytes_of("own"))).has_value());
    EXPECT_EQ(content_of(path), "new") << "a link is replaced";
    EXPECT_FALSE(std::filesystem::is_symlink(place / "link"));
    EXPECT_TRUE((co_await fs::write_file_atomic(place / "fresh", bytes_of("1"))).has_value());
    EXPECT_EQ(names_in(place.path()), (names{"file", "fresh", "link", "other_name"}));
  };
  rt.block_on(body());
}

TEST_P(fs_content, replaced_in_one_step_is_for_those_who_could_read_the_old) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    const auto mode_after = [&](write_options how) -> task<unsigned> {
      or_throw(co_await fs::write_file_atomic(path, bytes_of("new"), how));
      struct ::stat about{};
      EXPECT_EQ(::stat(path.c_str(), &about), 0);
      co_return about.st_mode & 07777U;
    };
    make_file(path, "secret");
    for (const unsigned mode : {0600U, 0666U, 0444U}) {
      EXPECT_EQ(::chmod(path.c_str(), mode), 0);
      EXPECT_EQ(co_await mode_after(write_options()), mode);
    }
    EXPECT_EQ(::chmod(path.c_str(), 04755), 0);
    EXPECT_EQ(co_await mode_after(write_options()), 0755U) << "it is nobody else's program";
    EXPECT_EQ(co_await mode_after(write_options().mode(0640)), 0640U);
    const auto beneath_a_file = co_await fs::write_file_atomic(path + "/x", bytes_of("new"));
    EXPECT_EQ(error_of(beneath_a_file), std::errc::not_a_directory);
  };
  rt.block_on(body());
}

TEST_P(fs_content, replaced_in_one_step_is_old_or_new_whatever_fails_or_stops_it) {
  const temp_directory place;
  const std::string path = place / "file";
  const auto big = noise(fs::file::chunk * 2 + 5);
  const std::string text = skua_test::text_of(big);
  const auto how = write_options().sync().sync_directory();
  const std::size_t before = open_fds();
  const auto look = [&](bool may_be_new, bool may_be_old) {
    const std::string now = content_of(path);
    EXPECT_TRUE((may_be_old && now == "old") || (may_be_new && now == text));
    EXPECT_EQ(names_in(place.path()), names{"file"});
    make_file(path, "old");
  };
  make_file(path, "old");
  const auto failed = skua::fail_each_operation(
      settings_of(GetParam(), log), std::errc::io_error, [&](skua::runtime& rt) {
        const auto done = rt.block_on(fs::write_file_atomic(path, big, how));
        look(true, !done.has_value());
      });
  // Its permissions are asked for, it is made, written in three pieces, synced, closed and renamed;
  // its directory is opened and synced.
  EXPECT_EQ(failed, 10U);
  const int stopped = skua_test::stop_at_each_operation(
      GetParam(), [&] { return fs::write_file_atomic(path, big, how); },
      [&](int, bool was_stopped) { look(true, was_stopped); });
  EXPECT_GE(stopped, 9);
  EXPECT_EQ(open_fds(), before);
}

// A file system of 64 KiB, where we may make one.
TEST_P(fs_content, that_finds_no_room_leaves_the_old_one) {
  const temp_directory place;
  if (::mount("none", place.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "no small file system can be mounted here";
  auto rt = start();
  auto body = [&]() -> task<> {
    make_file(place / "file", "old");
    const auto big = noise(200'000);
    EXPECT_EQ(error_of(co_await fs::write_file_atomic(place / "file", big)),
              std::errc::no_space_on_device);
    EXPECT_EQ(content_of(place / "file"), "old");
    EXPECT_EQ(error_of(co_await fs::write_file(place / "other", big)),
              std::errc::no_space_on_device);
    std::filesystem::remove(place / "other");
    make_file(place / "source", "0123456789");
    const auto source = noise(40'000);
    EXPECT_TRUE((co_await fs::write_file(place / "source", source)).has_value());
    EXPECT_EQ(error_of(co_await fs::copy_file(place / "source", place / "file")),
              std::errc::no_space_on_device);
    EXPECT_EQ(content_of(place / "file"), "old");
    EXPECT_EQ(names_in(place.path()), (names{"file", "source"}));
  };
  rt.block_on(body());
  rt.shutdown();
  // A thread of the kernel's may still let go of a file, after it has told how that went.
  int left = 0;
  for (int i = 0; i < 60'000; ++i) {
    left = ::umount(place.path().c_str()) == 0 ? 0 : errno;
    if (left != EBUSY) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(left, 0);
}

TEST_P(fs_content, of_a_temporary_file_is_gone_with_it) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    {
      auto nameless = or_throw(co_await fs::temp_file::create(place.path()));
      EXPECT_TRUE((co_await nameless->write_all(bytes_of("x"))).has_value());
      EXPECT_EQ(names_in(place.path()).size(), nameless.path().empty() ? 0U : 1U);
      auto named = or_throw(co_await fs::temp_file::create_named(place.path(), "mine-"));
      EXPECT_TRUE((co_await named->write_all(bytes_of("y"))).has_value());
      EXPECT_EQ(content_of(named.path()), "y");
      EXPECT_TRUE(std::filesystem::path(named.path()).filename().string().starts_with("mine-"));
      struct ::stat about{};
      EXPECT_EQ(::stat(named.path().c_str(), &about), 0);
      EXPECT_EQ(about.st_mode & 07777U, 0600U);
      auto moved = std::move(named);
      EXPECT_EQ(content_of(moved.path()), "y");
      auto other = or_throw(co_await fs::temp_file::create_named(place.path()));
      const std::string gone = other.path();
      other = std::move(moved);
      EXPECT_FALSE(std::filesystem::exists(gone));
      EXPECT_EQ(content_of(other.path()), "y");
      auto removed = or_throw(co_await fs::temp_file::create_named(place.path()));
      EXPECT_TRUE((co_await std::move(removed).remove()).has_value());
    }
    EXPECT_EQ(names_in(place.path()), names());
    EXPECT_EQ(error_of(co_await fs::temp_file::create(place / "none")),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(co_await fs::temp_file::create_named(place / "none")),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(co_await fs::temp_file::create(std::string("/tmp\0x", 6))),
              std::errc::invalid_argument);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_content, of_a_temporary_file_stays_if_it_is_given_a_name) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "kept", "old");
    auto nameless = or_throw(co_await fs::temp_file::create(place.path()));
    EXPECT_TRUE((co_await nameless->write_all(bytes_of("new"))).has_value());
    const fs::file open = or_throw(co_await std::move(nameless).persist(place / "kept"));
    EXPECT_EQ(content_of(place / "kept"), "new");
    EXPECT_EQ(open.position().value_or(0), 3);
    auto named = or_throw(co_await fs::temp_file::create_named(place.path()));
    EXPECT_TRUE((co_await named->write_all(bytes_of("newer"))).has_value());
    EXPECT_TRUE((co_await std::move(named).persist(place / "kept")).has_value());
    EXPECT_EQ(content_of(place / "kept"), "newer");
    auto lost = or_throw(co_await fs::temp_file::create(place.path()));
    EXPECT_EQ(error_of(co_await std::move(lost).persist(place / "none/x")),
              std::errc::no_such_file_or_directory);
    auto blocked = or_throw(co_await fs::temp_file::create(place.path()));
    std::filesystem::create_directory(place / "directory");
    EXPECT_EQ(error_of(co_await std::move(blocked).persist(place / "directory")),
              std::errc::is_a_directory);
    EXPECT_EQ(names_in(place.path()), (names{"directory", "kept"}));
  };
  rt.block_on(body());
}

task<result<void>> uses_what_does_not_last(std::string place) {
  auto directory = co_await or_return(co_await fs::temp_directory::create(place));
  co_await or_return(co_await fs::write_file(directory / "a", bytes_of("a")));
  auto named = co_await or_return(co_await fs::temp_file::create_named(directory.path()));
  auto other = co_await or_return(co_await fs::temp_file::create(place));
  co_await or_return(co_await other->write_all(bytes_of("b")));
  co_await or_return(co_await std::move(other).persist(directory / "b"));
  co_await or_return(co_await std::move(named).remove());
  co_return co_await std::move(directory).remove();
}

TEST_P(fs_content, that_does_not_last_is_gone_whatever_fails_or_stops) {
  const temp_directory place;
  const std::size_t before = open_fds();
  const auto failed = skua::fail_each_operation(
      settings_of(GetParam(), log), std::errc::io_error, [&](skua::runtime& rt) {
        const auto how = rt.block_on(uses_what_does_not_last(place.path()));
        if (!how) {
          EXPECT_EQ(how.error(), std::errc::io_error);
        }
        EXPECT_EQ(names_in(place.path()), names());
      });
  EXPECT_GE(failed, 8U);
  const int stopped = skua_test::stop_at_each_operation(
      GetParam(), [&] { return uses_what_does_not_last(place.path()); },
      [&](int number, bool) { EXPECT_EQ(names_in(place.path()), names()) << number; });
  EXPECT_GE(stopped, 8);
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_content, of_a_temporary_directory_is_gone_with_it_unless_it_is_kept) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    {
      auto one = or_throw(co_await fs::temp_directory::create(place.path(), "mine-"));
      std::filesystem::create_directories(one / "a/b/c");
      make_file(one / "a/b/file", "x");
      struct ::stat about{};
      EXPECT_EQ(::stat(one.path().c_str(), &about), 0);
      EXPECT_EQ(about.st_mode & 07777U, 0700U);
      auto other = or_throw(co_await fs::temp_directory::create(place.path()));
      other = std::move(one);
      EXPECT_EQ(names_in(place.path()).size(), 1U);
      EXPECT_EQ(content_of(other / "a/b/file"), "x");
    }
    EXPECT_EQ(names_in(place.path()), names());
    auto kept = or_throw(co_await fs::temp_directory::create(place.path()));
    const std::string path = std::move(kept).keep();
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(error_of(co_await fs::temp_directory::create(place / "none")),
              std::errc::no_such_file_or_directory);
  };
  rt.block_on(body());
}

}  // namespace
