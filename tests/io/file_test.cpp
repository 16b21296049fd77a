// tests/io/file_test.cpp: files and directories, from open to unlink, and what each refuses.
#include "skua/io/file.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::open_fds;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::temp_directory;

class files : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, files, skua_test::every_kind(), skua_test::name_of_kind);

constexpr int fresh = O_RDWR | O_CREAT | O_TRUNC;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void make_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) != -1;
}

TEST_P(files, are_opened_or_not_there) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    const auto missing = co_await io::open(path.c_str(), O_RDONLY);
    EXPECT_EQ(error_of(missing), std::errc::no_such_file_or_directory);
    const auto made = co_await io::open(path.c_str(), O_WRONLY | O_CREAT, 0640);
    EXPECT_TRUE(made.has_value());
    if (!made) co_return;
    EXPECT_EQ(::fcntl(made->get(), F_GETFD), FD_CLOEXEC);
    struct ::stat about{};
    EXPECT_EQ(::fstat(made->get(), &about), 0);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT_EQ(about.st_mode & 0777U, 0640U & ~mask);
    const auto again = co_await io::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    EXPECT_EQ(error_of(again), std::errc::file_exists);
    const auto no_directory = co_await io::open(path.c_str(), O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(error_of(no_directory), std::errc::not_a_directory);
    const auto directory = co_await io::open(place.path().c_str(), O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(directory.has_value());
    const auto written_to = co_await io::open(place.path().c_str(), O_WRONLY);
    EXPECT_EQ(error_of(written_to), std::errc::is_a_directory);
    const auto too_long = co_await io::open(std::string(5'000, 'n').c_str(), O_RDONLY);
    EXPECT_EQ(error_of(too_long), std::errc::filename_too_long);
    const auto nothing = co_await io::open("", O_RDONLY);
    EXPECT_EQ(error_of(nothing), std::errc::no_such_file_or_directory);
  };
  rt.block_on(body());
}

TEST_P(files, are_found_from_an_open_directory) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "inside", "found");
    const auto directory = co_await io::open(place.path().c_str(), O_PATH | O_DIRECTORY);
    EXPECT_TRUE(directory.has_value());
    if (!directory) co_return;
    const int at = directory->get();
    const auto file = co_await io::open("inside", O_RDONLY, 0, at);
    EXPECT_TRUE(file.has_value());
    if (!file) co_return;
    room<8> into;
    const auto got = co_await io::read(file->get(), into.span());
    EXPECT_EQ(into.text(got), "found");
    const auto lost = co_await io::open("inside", O_RDONLY, 0, 999'999);
    EXPECT_EQ(error_of(lost), std::errc::bad_file_descriptor);
    const auto astray = co_await io::open("inside", O_RDONLY, 0, file->get());
    EXPECT_EQ(error_of(astray), std::errc::not_a_directory);
    const std::string whole = place / "inside";
    const auto anyway = co_await io::open(whole.c_str(), O_RDONLY, 0, 999'999);
    EXPECT_TRUE(anyway.has_value()) << "a whole path needs no directory";
  };
  rt.block_on(body());
}

TEST_P(files, are_read_and_written_at_an_offset_and_at_their_position) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    const unique_fd file = skua::or_throw(co_await io::open(path.c_str(), fresh, 0600));
    const int fd = file.get();
    EXPECT_EQ((co_await io::write(fd, bytes_of("0123"))).value_or(0), 4U);
    EXPECT_EQ((co_await io::write(fd, bytes_of("4567"))).value_or(0), 4U);
    EXPECT_EQ(content_of(path), "01234567") << "each goes on where the last one ended";
    EXPECT_EQ((co_await io::write(fd, bytes_of("ab"), 2)).value_or(0), 2U);
    EXPECT_EQ(content_of(path), "01ab4567");
    EXPECT_EQ((co_await io::write(fd, bytes_of("89"))).value_or(0), 2U);
    EXPECT_EQ(content_of(path), "01ab456789") << "an offset moves no position";
    EXPECT_EQ((co_await io::write(fd, bytes_of("z"), 12)).value_or(0), 1U);
    EXPECT_EQ(content_of(path), std::string("01ab456789\0\0z", 13)) << "a hole";

    room<4> into;
    EXPECT_EQ(into.text(co_await io::read(fd, into.span(), 0)), "01ab");
    EXPECT_EQ(into.text(co_await io::read(fd, into.span(), 6)), "6789");
    EXPECT_EQ((co_await io::read(fd, into.span(), 13)).value_or(9), 0U) << "the end";
    EXPECT_EQ((co_await io::read(fd, into.span(), 1'000'000)).value_or(9), 0U);
    EXPECT_EQ(::lseek(fd, 1, SEEK_SET), 1);
    EXPECT_EQ(into.text(co_await io::read(fd, into.span())), "1ab4");
    EXPECT_EQ(into.text(co_await io::read(fd, into.span())), "5678");
    const auto before_it = co_await io::read(fd, into.span(), -2);
    EXPECT_EQ(error_of(before_it), std::errc::invalid_argument);
    const unique_fd only_read = skua::or_throw(co_await io::open(path.c_str(), O_RDONLY));
    const auto refused = co_await io::write(only_read.get(), bytes_of("x"));
    EXPECT_EQ(error_of(refused), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

TEST_P(files, are_appended_to) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "log";
    make_file(path, "a");
    const unique_fd file = skua::or_throw(co_await io::open(path.c_str(), O_WRONLY | O_APPEND));
    co_await io::write(file.get(), bytes_of("b"));
    co_await io::write(file.get(), bytes_of("c"));
    EXPECT_EQ(content_of(path), "abc");
  };
  rt.block_on(body());
}

constexpr std::size_t piece = 1 << 20;

std::vector<std::byte> piece_of(std::size_t number) {
  std::vector<std::byte> made(piece);
  std::uint32_t state = static_cast<std::uint32_t>(number) * 2'654'435'761U + 1;
  for (std::byte& one : made) {
    state = state * 1'664'525U + 1'013'904'223U;
    one = static_cast<std::byte>(state >> 24);
  }
  return made;
}

task<> write_piece(int fd, std::size_t number) {
  const std::vector<std::byte> from = piece_of(number);
  std::size_t done = 0;
  while (done < from.size()) {
    const auto where = static_cast<std::int64_t>(number * piece + done);
    done += skua::or_throw(co_await io::write(fd, std::span(from).subspan(done), where));
  }
}

task<> read_piece(int fd, std::size_t number) {
  std::vector<std::byte> into(piece);
  std::size_t done = 0;
  while (done < into.size()) {
    const auto where = static_cast<std::int64_t>(number * piece + done);
    const std::size_t got =
        skua::or_throw(co_await io::read(fd, std::span(into).subspan(done), where));
    EXPECT_GT(got, 0U);
    if (got == 0) break;
    done += got;
  }
  EXPECT_TRUE(into == piece_of(number)) << number;
}

TEST_P(files, of_many_megabytes_hold_what_was_written) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "big";
    const unique_fd file = skua::or_throw(co_await io::open(path.c_str(), fresh, 0600));
    constexpr std::size_t pieces = 16;
    std::vector<skua::join_handle<void>> all;
    for (std::size_t i = 0; i < pieces; ++i) all.push_back(spawn(write_piece(file.get(), i)));
    for (auto& one : all) co_await std::move(one);
    const auto synced = co_await io::fsync(file.get());
    EXPECT_TRUE(synced.has_value());
    EXPECT_EQ(std::filesystem::file_size(path), pieces * piece);
    all.clear();
    for (std::size_t i = 0; i < pieces; ++i) all.push_back(spawn(read_piece(file.get(), i)));
    for (auto& one : all) co_await std::move(one);
  };
  rt.block_on(body());
}

TEST_P(files, are_synced) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    const unique_fd file = skua::or_throw(co_await io::open(path.c_str(), fresh, 0600));
    co_await io::write(file.get(), bytes_of("kept"));
    EXPECT_TRUE((co_await io::fsync(file.get())).has_value());
    EXPECT_TRUE((co_await io::fdatasync(file.get())).has_value());
    EXPECT_EQ(error_of(co_await io::fsync(-1)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await io::fdatasync(999'999)), std::errc::bad_file_descriptor);
    const pipe_pair pipe;
    EXPECT_EQ(error_of(co_await io::fsync(pipe.in())), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::fdatasync(pipe.in())), std::errc::invalid_argument);
  };
  rt.block_on(body());
}

TEST_P(files, grow_and_shrink) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    const unique_fd file = skua::or_throw(co_await io::open(path.c_str(), fresh, 0600));
    const int fd = file.get();
    co_await io::write(fd, bytes_of("0123456789"));
    EXPECT_TRUE((co_await io::ftruncate(fd, 4)).has_value());
    EXPECT_EQ(content_of(path), "0123");
    EXPECT_TRUE((co_await io::ftruncate(fd, 6)).has_value());
    EXPECT_EQ(content_of(path), std::string("0123\0\0", 6));
    EXPECT_TRUE((co_await io::ftruncate(fd, 0)).has_value());
    EXPECT_EQ(content_of(path), "");
    EXPECT_TRUE((co_await io::fallocate(fd, 0, 100, 900)).has_value());
    EXPECT_EQ(std::filesystem::file_size(path), 1'000U);
    EXPECT_TRUE((co_await io::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 5'000)).has_value());
    EXPECT_EQ(std::filesystem::file_size(path), 1'000U);

    EXPECT_EQ(error_of(co_await io::ftruncate(fd, -1)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::ftruncate(-1, 1)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await io::fallocate(fd, 0, 0, 0)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::fallocate(fd, 0, -5, 10)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::fallocate(-1, 0, 0, 10)), std::errc::bad_file_descriptor);
    const unique_fd only_read = skua::or_throw(co_await io::open(path.c_str(), O_RDONLY));
    EXPECT_EQ(error_of(co_await io::ftruncate(only_read.get(), 1)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::fallocate(only_read.get(), 0, 0, 10)),
              std::errc::bad_file_descriptor);
    const pipe_pair pipe;
    EXPECT_EQ(error_of(co_await io::ftruncate(pipe.in(), 1)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await io::fallocate(pipe.in(), 0, 0, 10)), std::errc::invalid_seek);
  };
  rt.block_on(body());
}

TEST_P(files, tell_about_themselves) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    const std::string path = place / "file";
    const std::string link = place / "link";
    make_file(path, "12345");
    EXPECT_EQ(::symlink("file", link.c_str()), 0);
    struct ::statx about{};
    EXPECT_TRUE((co_await io::statx(path.c_str(), 0, STATX_SIZE | STATX_TYPE, about)).has_value());
    EXPECT_EQ(about.stx_size, 5U);
    EXPECT_TRUE(S_ISREG(about.stx_mode));
    EXPECT_TRUE(
        (co_await io::statx(link.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, about)).has_value());
    EXPECT_TRUE(S_ISLNK(about.stx_mode));
    const unique_fd at = skua::or_throw(co_await io::open(place.path().c_str(), O_PATH));
    EXPECT_TRUE((co_await io::statx("file", 0, STATX_SIZE, about, at.get())).has_value());
    EXPECT_EQ(about.stx_size, 5U);
    const unique_fd file = skua::or_throw(co_await io::open(path.c_str(), O_RDONLY));
    EXPECT_TRUE((co_await io::statx("", AT_EMPTY_PATH, STATX_SIZE, about, file.get())).has_value());
    EXPECT_EQ(about.stx_size, 5U);

    const std::string none = place / "none";
    const std::string beneath_a_file = path + "/x";
    constexpr auto missing = std::errc::no_such_file_or_directory;
    EXPECT_EQ(error_of(co_await io::statx(none.c_str(), 0, STATX_SIZE, about)), missing);
    EXPECT_EQ(error_of(co_await io::statx("file", 0, STATX_SIZE, about, 999'999)),
              std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await io::statx(beneath_a_file.c_str(), 0, STATX_SIZE, about)),
              std::errc::not_a_directory);
    EXPECT_EQ(error_of(co_await io::statx(path.c_str(), 1 << 30, STATX_SIZE, about)),
              std::errc::invalid_argument);
  };
  rt.block_on(body());
}

TEST_P(files, close_by_their_last_operation) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    for (int i = 0; i < 20; ++i) {
      unique_fd file = skua::or_throw(co_await io::open("/dev/null", O_RDONLY));
      const int number = file.get();
      EXPECT_TRUE((co_await io::close(std::move(file))).has_value());
      EXPECT_FALSE(is_open(number));
    }
    const auto none = co_await io::close(unique_fd());
    EXPECT_EQ(error_of(none), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

// A timeout does not keep it from closing, either.
TEST_P(files, close_in_a_task_that_was_stopped_before) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    auto closes = [](int signal, unique_fd file) -> task<> {
      room<4> into;
      co_await skua::shielded(io::read(signal, into.span()));
      co_await io::close(std::move(file));
      ADD_FAILURE() << "went on";
    };
    for (int i = 0; i < 10; ++i) {
      const pipe_pair pipe;
      auto one =
          spawn(closes(pipe.out(), skua::or_throw(co_await io::open("/dev/null", O_RDONLY))));
      co_await skua::sleep(500us);
      one.abort();
      co_await io::write(pipe.in(), bytes_of("now"));
      const auto end = co_await one.outcome();
      EXPECT_TRUE(end.stopped());
    }
    const auto closed = co_await skua::timeout(
        0ms, io::close(skua::or_throw(co_await io::open("/dev/null", O_RDONLY))));
    EXPECT_TRUE(closed.has_value());
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(files, close_whenever_the_task_is_stopped) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    auto opens_and_closes = []() -> task<> {
      for (;;) co_await io::close(skua::or_throw(co_await io::open("/dev/null", O_RDONLY)));
    };
    for (int i = 0; i < 200; ++i) {
      auto one = spawn(opens_and_closes());
      for (int k = 0; k < i % 7; ++k) co_await skua::yield();
      one.abort();
      co_await one.wait();
    }
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
