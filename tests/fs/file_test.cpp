// tests/fs/file_test.cpp: an open file: what it does, what it refuses, and what a stop leaves.
#include "skua/fs/file.hpp"

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
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = skua::fs;
using fs::file;
using fs::open_options;
using skua::or_return;
using skua::or_throw;
using skua::result;
using skua::spawn;
using skua::task;
using skua_test::bytes_of;
using skua_test::content_of;
using skua_test::error_of;
using skua_test::make_file;
using skua_test::noise;
using skua_test::open_fds;
using skua_test::room;
using skua_test::temp_directory;

static_assert(std::is_nothrow_move_constructible_v<file>);
static_assert(!std::is_copy_constructible_v<file>);

class fs_file : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_file, skua_test::every_kind(), skua_test::name_of_kind);

constexpr open_options both = open_options().read().write().create();

TEST(fs_open_options, refuse_what_makes_no_sense) {
  constexpr auto invalid = std::errc::invalid_argument;
  EXPECT_EQ(error_of(open_options().to_flags()), invalid);
  EXPECT_EQ(error_of(open_options().create().to_flags()), invalid);
  EXPECT_EQ(error_of(open_options().read().create().to_flags()), invalid);
  EXPECT_EQ(error_of(open_options().read().create_new().to_flags()), invalid);
  EXPECT_EQ(error_of(open_options().read().truncate().to_flags()), invalid);
  EXPECT_EQ(error_of(open_options().append().truncate().to_flags()), invalid);
}

TEST(fs_open_options, are_the_flags_of_their_names) {
  EXPECT_EQ(open_options().read().to_flags().value(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(open_options().write().to_flags().value(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(open_options().read().append().to_flags().value(), O_RDWR | O_APPEND | O_CLOEXEC);
  EXPECT_EQ(open_options().write().create().truncate().to_flags().value(),
            O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  EXPECT_EQ(open_options().write().create_new().to_flags().value(),
            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  EXPECT_EQ(open_options().read().no_follow().direct().non_blocking().to_flags().value(),
            O_RDONLY | O_NOFOLLOW | O_DIRECT | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(open_options().write().synchronous().flags(O_NOATIME).to_flags().value(),
            O_WRONLY | O_DSYNC | O_NOATIME | O_CLOEXEC);
  EXPECT_EQ(open_options().read().write().write(false).to_flags().value(), O_RDONLY | O_CLOEXEC);
}

task<std::error_code> open_error(std::string path, open_options how) {
  const auto opened = co_await file::open(std::move(path), how);
  co_return error_of(opened);
}

TEST_P(fs_file, is_opened_or_says_why_not) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    make_file(path, "x");
    EXPECT_EQ(::symlink("file", (place / "link").c_str()), 0);
    const auto reads = open_options().read();
    EXPECT_EQ(co_await open_error(place / "none", reads), std::errc::no_such_file_or_directory);
    EXPECT_EQ(co_await open_error(path + "/x", reads), std::errc::not_a_directory);
    EXPECT_EQ(co_await open_error(place.path(), both), std::errc::is_a_directory);
    EXPECT_EQ(co_await open_error(place.path(), open_options().write()), std::errc::is_a_directory);
    EXPECT_EQ(co_await open_error(place / std::string(300, 'n').c_str(), reads),
              std::errc::filename_too_long);
    EXPECT_EQ(co_await open_error(path + std::string("\0y", 2), reads),
              std::errc::invalid_argument);
    EXPECT_EQ(co_await open_error("", reads), std::errc::no_such_file_or_directory);
    EXPECT_EQ(co_await open_error(path, open_options().write().create_new()),
              std::errc::file_exists);
    EXPECT_EQ(co_await open_error(place / "link", open_options().read().no_follow()),
              std::errc::too_many_symbolic_link_levels);
    EXPECT_EQ(co_await open_error(path, open_options()), std::errc::invalid_argument);

    const file opened = or_throw(co_await file::open(place / "link"));
    EXPECT_TRUE(static_cast<bool>(opened));
    EXPECT_EQ(::fcntl(opened.get(), F_GETFD), FD_CLOEXEC);
    const file made = or_throw(co_await file::open(place / "m", open_options(both).mode(0600)));
    struct ::stat about{};
    EXPECT_EQ(::fstat(made.get(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0600U);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_file, is_read_and_written_at_offsets) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    file one = or_throw(co_await file::open(place / "file", both));
    EXPECT_EQ((co_await one.write_at(bytes_of("hello"), 3)).value_or(0), 5U);
    EXPECT_EQ(content_of(place / "file"), std::string("\0\0\0hello", 8));
    room<8> into;
    EXPECT_EQ(into.text(co_await one.read_at(into.span(), 5)), "llo");
    EXPECT_EQ((co_await one.read_at(into.span(), 100)).value_or(9), 0U);
    EXPECT_EQ(one.position().value_or(9), 0) << "offsets move no position";

    std::string first = "ab";
    std::string second = "cde";
    std::array parts = {iovec{.iov_base = first.data(), .iov_len = first.size()},
                        iovec{.iov_base = second.data(), .iov_len = second.size()}};
    EXPECT_EQ((co_await one.writev_at(parts, 0)).value_or(0), 5U);
    first.replace(0, 2, "..");
    second.replace(0, 3, "...");
    EXPECT_EQ((co_await one.readv_at(parts, 1)).value_or(0), 5U);
    EXPECT_EQ(first + second, "bcdel");
    EXPECT_EQ((co_await one.readv(parts)).value_or(0), 5U);
    EXPECT_EQ(first + second, "abcde");
    EXPECT_EQ((co_await one.writev(parts)).value_or(0), 5U);
    EXPECT_EQ(content_of(place / "file"), "abcdeabcde");
    for (const std::int64_t before_it : {-1, -7}) {
      EXPECT_EQ(error_of(co_await one.read_at(into.span(), before_it)),
                std::errc::invalid_argument);
      EXPECT_EQ(error_of(co_await one.write_at(bytes_of("x"), before_it)),
                std::errc::invalid_argument);
      EXPECT_EQ(error_of(co_await one.readv_at(parts, before_it)), std::errc::invalid_argument);
      EXPECT_EQ(error_of(co_await one.writev_at(parts, before_it)), std::errc::invalid_argument);
    }
    EXPECT_EQ(content_of(place / "file"), "abcdeabcde");
  };
  rt.block_on(body());
}

TEST_P(fs_file, has_a_position) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    file one = or_throw(co_await file::open(place / "file", both));
    EXPECT_TRUE((co_await one.write_all(bytes_of("0123456789"))).has_value());
    EXPECT_EQ(one.position().value_or(0), 10);
    EXPECT_EQ((co_await one.seek(2)).value_or(0), 2);
    room<3> into;
    EXPECT_EQ(into.text(co_await one.read(into.span())), "234");
    EXPECT_EQ((co_await one.seek(-1, fs::seek_from::position)).value_or(0), 4);
    EXPECT_EQ(into.text(co_await one.read(into.span())), "456");
    EXPECT_EQ((co_await one.seek(-2, fs::seek_from::end)).value_or(0), 8);
    EXPECT_EQ(into.text(co_await one.read(into.span())), "89");
    EXPECT_EQ((co_await one.read(into.span())).value_or(9), 0U);
    EXPECT_EQ(error_of(co_await one.seek(-1)), std::errc::invalid_argument);
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(error_of(co_await one.seek(most, fs::seek_from::position)),
              std::errc::invalid_argument);
    EXPECT_EQ(one.position().value_or(0), 10) << "as before";
    EXPECT_TRUE((co_await one.seek(3)).has_value());
    const skua::unique_fd raw = std::move(one).release();
    EXPECT_EQ(::lseek(raw.get(), 0, SEEK_CUR), 3) << "it is given along";
    file again(skua::unique_fd(::dup(raw.get())));
    EXPECT_EQ(into.text(co_await again.read(into.span())), "345");
    EXPECT_EQ(::lseek(raw.get(), 0, SEEK_CUR), 3) << "and taken in, to be our own";
    const skua_test::pipe_pair pipe;
    file end(skua::unique_fd(::dup(pipe.in())));
    EXPECT_EQ(error_of(end.position()), std::errc::invalid_seek);
    EXPECT_EQ(error_of(co_await end.seek(1)), std::errc::invalid_seek);
    EXPECT_TRUE((co_await end.write_all(bytes_of("x"))).has_value());
    file none;
    EXPECT_EQ(error_of(none.position()), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await none.read(into.span())), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

TEST_P(fs_file, moves_a_chunk_at_once_and_all_if_asked) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const auto content = noise(file::chunk * 3 + 17);
    file one = or_throw(co_await file::open(place / "file", both));
    EXPECT_EQ((co_await one.write(content)).value_or(0), file::chunk);
    EXPECT_EQ((co_await one.write_at(content, 0)).value_or(0), file::chunk);
    EXPECT_TRUE((co_await one.write_all_at(content, 0)).has_value());
    std::vector<std::byte> into(content.size() + 100);
    EXPECT_EQ((co_await one.read_at(into, 0)).value_or(0), file::chunk);
    EXPECT_EQ((co_await one.read_full_at(into, 0)).value_or(0), content.size());
    into.resize(content.size());
    EXPECT_TRUE(into == content);
    EXPECT_TRUE((co_await one.seek(0)).has_value());
    EXPECT_TRUE((co_await one.write_all(std::span(content).subspan(5))).has_value());
    EXPECT_EQ((co_await one.read_full_at(into, 0)).value_or(0), content.size());
    EXPECT_TRUE(std::equal(content.begin() + 5, content.end(), into.begin()));
  };
  rt.block_on(body());
}

TEST_P(fs_file, is_changed_as_a_whole) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    file one = or_throw(co_await file::open(place / "file", both));
    EXPECT_TRUE((co_await one.write_all(bytes_of("0123456789"))).has_value());
    EXPECT_TRUE((co_await one.truncate(4)).has_value());
    EXPECT_TRUE((co_await one.sync_all()).has_value());
    EXPECT_TRUE((co_await one.sync_data()).has_value());
    EXPECT_EQ(content_of(place / "file"), "0123");
    const auto reserved = co_await one.allocate(0, 8'192);
    EXPECT_TRUE(reserved.has_value());
    EXPECT_TRUE((co_await one.set_permissions(0640)).has_value());
    const fs::file_info about = or_throw(co_await one.metadata());
    EXPECT_EQ(about.size(), 8'192U);
    EXPECT_EQ(about.permissions(), 0640U);
    EXPECT_TRUE(about.is_regular());
    EXPECT_GE(about.allocated(), 8'192U);
    EXPECT_EQ(error_of(co_await one.truncate(-1)), std::errc::invalid_argument);
    const file none;
    EXPECT_EQ(error_of(co_await none.metadata()), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await none.set_permissions(0600)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await none.sync_all()), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

TEST_P(fs_file, opened_for_append_or_past_the_cache_behaves_so) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "log", "a");
    file journal = or_throw(co_await file::open(place / "log", open_options().append()));
    EXPECT_TRUE((co_await journal.write_all(bytes_of("b"))).has_value());
    EXPECT_TRUE((co_await journal.write_all_at(bytes_of("c"), 0)).has_value());
    EXPECT_EQ(content_of(place / "log"), "abc");
    EXPECT_EQ(journal.position(), 0) << "only seek() moves it";

    auto direct = co_await file::open(place / "direct", open_options(both).direct());
    if (!direct) co_return;  // this file system has only the cache
    constexpr std::size_t block = 4'096;
    const std::size_t length = file::chunk * 2;
    auto* const bytes = static_cast<std::byte*>(std::aligned_alloc(block, length));
    std::fill_n(bytes, length, std::byte{7});
    const std::span all(bytes, length);
    EXPECT_TRUE((co_await direct->write_all_at(all, 0)).has_value());
    EXPECT_EQ((co_await direct->read_full_at(all, 0)).value_or(0), length);
    std::free(bytes);
  };
  rt.block_on(body());
}

TEST_P(fs_file, on_a_full_device_says_so) {
  auto rt = start();
  auto body = []() -> task<> {
    file full = or_throw(co_await file::open("/dev/full", open_options().write()));
    const auto put = co_await full.write(bytes_of("x"));
    EXPECT_EQ(error_of(put), std::errc::no_space_on_device);
    const auto all = co_await full.write_all(bytes_of("x"));
    EXPECT_EQ(error_of(all), std::errc::no_space_on_device);
  };
  rt.block_on(body());
}

TEST_P(fs_file, is_locked_by_one_or_shared_by_several) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const file one = or_throw(co_await file::open(place / "file", both));
    const file other = or_throw(co_await file::open(place / "file", both));
    EXPECT_TRUE((co_await one.lock()).has_value());
    EXPECT_FALSE((co_await other.try_lock()).value_or(true));
    EXPECT_FALSE((co_await other.try_lock(fs::lock_kind::shared)).value_or(true));
    EXPECT_TRUE((co_await one.try_lock(fs::lock_kind::shared)).value_or(false)) << "instead";
    EXPECT_TRUE((co_await other.try_lock(fs::lock_kind::shared)).value_or(false));
    EXPECT_FALSE((co_await other.try_lock()).value_or(true));
    EXPECT_TRUE((co_await one.unlock()).has_value());
    EXPECT_TRUE((co_await other.try_lock()).value_or(false));
    const file none;
    EXPECT_EQ(error_of(co_await none.lock()), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await none.try_lock()), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

task<bool> locks(const file& which) {
  const auto locked = co_await which.lock();
  co_return locked.has_value();
}

TEST_P(fs_file, waits_for_a_lock_until_it_is_free_or_the_task_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const file one = or_throw(co_await file::open(place / "file", both));
    const file other = or_throw(co_await file::open(place / "file", both));
    EXPECT_TRUE((co_await one.lock()).has_value());
    const auto late = co_await skua::timeout(20ms, locks(other));
    EXPECT_EQ(error_of(late), std::errc::timed_out);
    auto stopped = spawn(locks(other));
    co_await skua::sleep(3ms);
    EXPECT_FALSE(stopped.done());
    stopped.abort();
    EXPECT_TRUE((co_await stopped.outcome()).stopped());
    auto waits = spawn(locks(other));
    co_await skua::sleep(3ms);
    EXPECT_FALSE(waits.done());
    EXPECT_TRUE((co_await one.unlock()).has_value());
    EXPECT_TRUE(co_await std::move(waits));
    EXPECT_FALSE((co_await one.try_lock()).value_or(true));
  };
  rt.block_on(body());
}

// Whenever the stop comes: also if the lock was got just then.
TEST_P(fs_file, is_not_left_locked_by_a_task_that_was_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const file one = or_throw(co_await file::open(place / "file", both));
    const file other = or_throw(co_await file::open(place / "file", both));
    for (int i = 0; i < 100; ++i) {
      auto stopped = spawn(locks(one));
      for (int turns = 0; turns < i % 7; ++turns) co_await skua::yield();
      if (i % 3 == 0) co_await skua::sleep(std::chrono::microseconds(i));
      stopped.abort();
      const bool was_stopped = (co_await stopped.outcome()).stopped();
      const bool free = (co_await other.try_lock()).value_or(false);
      EXPECT_EQ(free, was_stopped) << i;
      EXPECT_TRUE((co_await one.unlock()).has_value());
      EXPECT_TRUE((co_await other.unlock()).has_value());
    }
  };
  rt.block_on(body());
}

TEST_P(fs_file, is_stopped_while_it_waits) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    EXPECT_EQ(::mkfifo((place / "fifo").c_str(), 0600), 0);
    auto reads = [](std::string path) -> task<> {
      file one = or_throw(co_await file::open(std::move(path), both));
      room<8> into;
      const auto got = co_await one.read(into.span());
      ADD_FAILURE() << "read " << got.value_or(0);
    };
    for (int i = 0; i < 20; ++i) {
      auto waits = spawn(reads(place / "fifo"));
      co_await skua::sleep(std::chrono::microseconds(50 * i));
      waits.abort();
      EXPECT_TRUE((co_await waits.outcome()).stopped());
    }
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_file, is_taken_in_given_out_and_closed) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    file one(skua::unique_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
    const int number = one.get();
    skua::unique_fd raw = std::move(one).release();
    EXPECT_EQ(raw.get(), number);
    EXPECT_FALSE(static_cast<bool>(one));
    file again(skua::io::descriptor(std::move(raw)));
    EXPECT_EQ(again.descriptor().get(), number);
    EXPECT_TRUE((co_await std::move(again).close()).has_value());
    EXPECT_EQ(::fcntl(number, F_GETFD), -1);
    EXPECT_EQ(error_of(co_await file().close()), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

task<result<void>> uses_a_file(std::string path) {
  file one = co_await or_return(co_await file::open(std::move(path), both));
  co_await or_return(co_await one.lock());
  co_await or_return(co_await one.write_all(bytes_of("content")));
  co_await or_return(co_await one.truncate(3));
  co_await or_return(co_await one.sync_data());
  const fs::file_info about = co_await or_return(co_await one.metadata());
  EXPECT_EQ(about.size(), 3U);
  room<8> into;
  co_await or_return(co_await one.read_full_at(into.span(), 0));
  co_return co_await std::move(one).close();
}

TEST_P(fs_file, leaks_nothing_whichever_operation_fails_or_is_stopped) {
  const temp_directory place;
  const std::string path = place / "file";
  const std::size_t before = open_fds();
  const auto failed = skua::fail_each_operation(settings_of(GetParam(), log), std::errc::io_error,
                                                [&](skua::runtime& rt) {
                                                  const auto how = rt.block_on(uses_a_file(path));
                                                  if (!how) {
                                                    EXPECT_EQ(how.error(), std::errc::io_error);
                                                  }
                                                });
  EXPECT_GE(failed, 6U);
  const int stopped = skua_test::stop_at_each_operation(
      GetParam(), [&] { return uses_a_file(path); }, [](int, bool) {});
  EXPECT_GE(stopped, 6);
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
