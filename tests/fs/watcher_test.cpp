// tests/fs/watcher_test.cpp: what happens to files, told in order, with nothing lost.
#include "skua/fs/watcher.hpp"

#include "fs/files.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = skua::fs;
using fs::watch_event;
using fs::watch_id;
using fs::watch_kind;
using fs::watcher;
using skua::or_throw;
using skua::task;
using skua_test::error_of;
using skua_test::make_file;
using skua_test::open_fds;
using skua_test::temp_directory;

class fs_watcher : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, fs_watcher, skua_test::every_kind(), skua_test::name_of_kind);

task<watch_event> next(watcher& from) {
  co_return or_throw(co_await skua::timeout(60s, from.next()));
}

TEST_P(fs_watcher, tells_what_happens_in_a_directory) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    watcher changes = or_throw(watcher::create());
    const watch_id id = or_throw(co_await changes.add(place.path()));
    make_file(place / "file", "x");
    const watch_event made = co_await next(changes);
    EXPECT_EQ(made.id(), id);
    EXPECT_TRUE(made.is(watch_kind::created));
    EXPECT_EQ(made.name(), "file");
    EXPECT_FALSE(made.is_directory() || made.is_end() || made.is_overflow());
    EXPECT_TRUE((co_await next(changes)).is(watch_kind::modified));
    EXPECT_TRUE((co_await next(changes)).is(watch_kind::written));

    std::filesystem::rename(place / "file", place / "a longer name");
    const watch_event from = co_await next(changes);
    const watch_event to = co_await next(changes);
    EXPECT_TRUE(from.is(watch_kind::moved_from));
    EXPECT_EQ(from.name(), "file");
    EXPECT_TRUE(to.is(watch_kind::moved_to));
    EXPECT_EQ(to.name(), "a longer name");
    EXPECT_EQ(from.cookie(), to.cookie());
    EXPECT_NE(from.cookie(), 0U);

    std::filesystem::create_directory(place / "sub");
    const watch_event sub = co_await next(changes);
    EXPECT_TRUE(sub.is(watch_kind::created) && sub.is_directory());
    std::filesystem::remove(place / "a longer name");
    const watch_event gone = co_await next(changes);
    EXPECT_TRUE(gone.is(watch_kind::removed));
    EXPECT_EQ(gone.cookie(), 0U);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(fs_watcher, tells_what_happens_to_a_file_itself) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    make_file(place / "file", "x");
    watcher changes = or_throw(watcher::create());
    const watch_id id = or_throw(co_await changes.add(place / "file"));
    const watch_id same = or_throw(
        co_await changes.add(place / "./file", watch_kind::attributes | watch_kind::self_removed));
    EXPECT_EQ(id, same) << "the same file";
    EXPECT_EQ(::chmod((place / "file").c_str(), 0600), 0);
    const watch_event changed = co_await next(changes);
    EXPECT_TRUE(changed.is(watch_kind::attributes));
    EXPECT_EQ(changed.name(), "");
    std::filesystem::remove(place / "file");
    EXPECT_TRUE((co_await next(changes)).is(watch_kind::attributes)) << "one name less";
    EXPECT_TRUE((co_await next(changes)).is(watch_kind::self_removed));
    const watch_event end = co_await next(changes);
    EXPECT_TRUE(end.is_end());
    EXPECT_EQ(end.id(), id);
  };
  rt.block_on(body());
}

TEST_P(fs_watcher, stops_watching_what_is_removed_from_it) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    std::filesystem::create_directory(place / "one");
    std::filesystem::create_directory(place / "two");
    watcher changes = or_throw(watcher::create());
    const watch_id one = or_throw(co_await changes.add(place / "one", watch_kind::created));
    const watch_id two = or_throw(co_await changes.add(place / "two", watch_kind::created));
    make_file(place / "one/before", "");
    EXPECT_TRUE((co_await changes.remove(one)).has_value());
    make_file(place / "one/after", "");
    make_file(place / "two/file", "");
    EXPECT_EQ((co_await next(changes)).name(), "before");
    EXPECT_TRUE((co_await next(changes)).is_end());
    const watch_event other = co_await next(changes);
    EXPECT_EQ(other.id(), two);
    EXPECT_EQ(other.name(), "file");
    EXPECT_EQ(error_of(co_await changes.remove(one)), std::errc::invalid_argument);
    EXPECT_EQ(error_of(co_await changes.add(place / "none")), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(co_await changes.add(place.path() + std::string("\0x", 2))),
              std::errc::invalid_argument);
  };
  rt.block_on(body());
}

TEST_P(fs_watcher, waits_until_something_happens) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    watcher changes = or_throw(watcher::create());
    auto waits = [](watcher& from) -> task<std::string> {
      const watch_event one = co_await next(from);
      co_return one.name();
    };
    auto waiting = skua::spawn(waits(changes));
    co_await skua::sleep(2ms);
    EXPECT_TRUE((co_await changes.add(place.path())).has_value()) << "while another waits";
    EXPECT_FALSE(waiting.done());
    make_file(place / "file", "");
    EXPECT_EQ(co_await std::move(waiting), "file");
  };
  rt.block_on(body());
}

TEST_P(fs_watcher, is_a_stream) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory place;
    watcher changes = or_throw(watcher::create());
    EXPECT_TRUE((co_await changes.add(place.path(), watch_kind::created)).has_value());
    for (const char* name : {"a", "b", "c"}) make_file(place / name, "");
    auto three = changes.events() | skua::stream::take(3);
    std::string all;
    while (auto one = co_await three.next()) all += or_throw(std::move(*one)).name();
    EXPECT_EQ(all, "abc");
  };
  rt.block_on(body());
}

TEST_P(fs_watcher, says_when_more_happened_than_the_kernel_keeps) {
  std::size_t kept = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> kept;
  if (kept == 0 || kept > 50'000) GTEST_SKIP() << "the kernel keeps " << kept << " events";
  auto rt = start();
  auto body = [&]() -> task<> {
    const temp_directory place;
    make_file(place / "a", "");
    make_file(place / "b", "");
    watcher changes = or_throw(watcher::create());
    EXPECT_TRUE((co_await changes.add(place.path(), watch_kind::attributes)).has_value());
    const std::string one = place / "a";
    const std::string other = place / "b";
    for (std::size_t i = 0; i <= kept / 2; ++i) {  // in turn: equal ones would be one
      ::chmod(one.c_str(), 0600);
      ::chmod(other.c_str(), 0600);
    }
    std::size_t seen = 0;
    for (;; ++seen) {
      const watch_event event = co_await next(changes);
      if (event.is_overflow()) {
        EXPECT_EQ(event.id(), watch_id::none);
        break;
      }
    }
    EXPECT_EQ(seen, kept);
    ::chmod(one.c_str(), 0600);
    EXPECT_EQ((co_await next(changes)).name(), "a") << "it goes on";
  };
  rt.block_on(body());
}

// Names are made in order while those who wait are stopped, lose races, time out.
TEST_P(fs_watcher, loses_nothing_to_those_who_are_stopped) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    const temp_directory place;
    constexpr int many = 300;
    watcher changes = or_throw(watcher::create());
    EXPECT_TRUE((co_await changes.add(place.path(), watch_kind::created)).has_value());
    auto makes = [](const temp_directory& where) -> task<> {
      for (int i = 0; i < many; ++i) {
        make_file(where / std::to_string(i).c_str(), "");
        if (i % 3 == 0) co_await skua::sleep(100us);
      }
    };
    auto making = skua::spawn(makes(place));
    int seen = 0;
    for (int i = 0; seen < many; ++i) {
      if (i % 2 == 0) {
        auto event = co_await skua::select(changes.next(), skua::sleep(50us));
        if (auto* one = event.get<0>()) {
          EXPECT_EQ((*one)->name(), std::to_string(seen));
          ++seen;
        }
        continue;
      }
      auto takes = [](watcher& from) -> task<std::string> {
        auto one = co_await from.next();
        co_return one->name();
      };
      auto taking = skua::spawn(takes(changes));
      for (int k = 0; k < i % 5; ++k) co_await skua::yield();
      taking.abort();
      auto end = co_await taking.outcome();
      if (end.stopped()) continue;
      EXPECT_EQ(std::move(end).value(), std::to_string(seen));
      ++seen;
    }
    co_await std::move(making);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

}  // namespace
