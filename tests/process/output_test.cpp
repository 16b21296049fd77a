// tests/process/output_test.cpp: all that a program writes, within bounds.
#include "skua/process/output.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/processes.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using skua::task;
using skua::process::command;
using skua::process::exit_status;
using skua::process::output_options;
using skua::process::stdio;
using skua_test::error_of;
using skua_test::has_no_children;
using skua_test::shell;
using skua_test::soon;

class outputs : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, outputs, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(outputs, are_all_that_was_written) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto all = skua::or_throw(co_await shell("echo out; echo err >&2; exit 3").output());
    EXPECT_EQ(all.out, "out\n");
    EXPECT_EQ(all.err, "err\n");
    EXPECT_EQ(all.status, exit_status::exited(3));
    EXPECT_FALSE(all.cut_short);
    const auto nothing = skua::or_throw(co_await command("cat").output());
    EXPECT_EQ(nothing.out, "") << "it has no input unless it is given some";
    auto elsewhere = shell("echo out; echo err >&2");
    elsewhere.out(stdio::null());
    const auto half = skua::or_throw(co_await elsewhere.output());
    EXPECT_EQ(half.out + half.err, "err\n") << "what the command says counts more";
  };
  rt.block_on(body());
}

// A program that fills one pipe while we wait at the other would never end.
TEST_P(outputs, of_both_streams_are_read_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto all = skua::or_throw(co_await shell("head -c 3000000 /dev/zero >&2; "
                                                   "head -c 3000000 /dev/zero; "
                                                   "head -c 1000000 /dev/zero >&2")
                                        .output());
    EXPECT_EQ(all.out.size(), 3'000'000U);
    EXPECT_EQ(all.err.size(), 4'000'000U);
  };
  rt.block_on(body());
}

TEST_P(outputs, come_while_the_input_is_fed) {
  auto rt = start();
  auto body = []() -> task<> {
    const std::string text(3'000'000, 'x');
    const auto all = skua::or_throw(co_await command("cat").output(output_options().input(text)));
    EXPECT_EQ(all.out, text);
    const auto deaf = co_await command("true").output(output_options().input(text));
    EXPECT_TRUE(deaf.has_value()) << "a program that does not read its input is no error";
  };
  rt.block_on(body());
}

TEST_P(outputs, have_a_limit) {
  auto rt = start();
  auto body = []() -> task<> {
    auto endless = command("yes");
    EXPECT_EQ(error_of(co_await endless.output(output_options().limit(10'000))),
              skua::errc::limit_exceeded);
    EXPECT_TRUE(has_no_children()) << "it was killed and waited for";
    const auto fits = co_await shell("printf 12345").output(output_options().limit(5));
    EXPECT_EQ(skua::or_throw(fits).out, "12345");
    const auto cut = skua::or_throw(
        co_await shell("printf 123456; printf 12 >&2").output(output_options().limit(5).cut()));
    EXPECT_EQ(cut.out, "12345");
    EXPECT_EQ(cut.err, "12");
    EXPECT_TRUE(cut.cut_short);
    EXPECT_TRUE(cut.status.success());
  };
  rt.block_on(body());
}

TEST_P(outputs, have_a_time_limit_for_the_whole_group) {
  const skua_test::temp_directory place;
  auto rt = start();
  auto body = [](const skua_test::temp_directory& in) -> task<> {
    auto slow = shell("sleep 1000 & echo $! > " + in / "id; wait");
    slow.new_group();
    pid_t grandchild = 0;
    for (auto limit = 20ms; grandchild == 0; limit *= 2) {  // until it gets that far
      const auto late = co_await slow.output(output_options().timeout(limit));
      EXPECT_EQ(error_of(late), std::errc::timed_out);
      EXPECT_TRUE(has_no_children());
      std::ifstream(in / "id") >> grandchild;
    }
    EXPECT_TRUE(co_await soon(
        [grandchild] { return ::kill(grandchild, 0) != 0 || skua_test::is_zombie(grandchild); }));
    auto closes = shell("exec >&- 2>&-; exec sleep 1000");
    EXPECT_EQ(error_of(co_await closes.output(output_options().timeout(5ms))), std::errc::timed_out)
        << "also when the pipes have ended";
    EXPECT_TRUE(has_no_children());
  };
  rt.block_on(body(place));
}

TEST_P(outputs, that_are_stopped_leave_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    static_cast<void>(co_await command("true").output());
    const std::size_t before = skua_test::open_fds();
    auto gather = []() -> task<> { static_cast<void>(co_await command("yes").output()); };
    for (int i = 0; i < 12; ++i) {
      auto gatherer = skua::spawn(gather());
      if (i % 2 == 0) co_await skua::sleep(1ms);
      for (int k = 0; k < i % 5; ++k) co_await skua::yield();
      gatherer.abort();
      EXPECT_TRUE((co_await gatherer.outcome()).stopped());
    }
    EXPECT_TRUE(co_await soon(has_no_children));
    EXPECT_TRUE(co_await soon([before] { return skua_test::open_fds() == before; }));
  };
  rt.block_on(body());
}

}  // namespace
