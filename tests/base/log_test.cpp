// tests/base/log_test.cpp: a record arrives whole, as one line, and logging never fails its caller.
#include "skua/base/log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {
std::atomic<int> allocations = 0;
}  // namespace

// Weak, since clang's ThreadSanitizer brings its own and would not link otherwise.
[[gnu::weak]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
[[gnu::weak]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::weak]] void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

namespace {

using skua::log_field;
using skua::log_level;
using skua::log_record;
using skua::logger;
using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

// Collects what is written to standard error while it exists. Holds as much as a pipe: 64 KiB.
class captured_stderr {
public:
  captured_stderr() : saved_(dup(STDERR_FILENO)) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    read_end_ = ends[0];
  }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;
  ~captured_stderr() {
    restore();
    close(read_end_);
  }

  std::string text() {
    restore();
    std::string all;
    char block[4096];
    for (ssize_t got; (got = read(read_end_, block, sizeof block)) > 0;) {
      all.append(block, static_cast<std::size_t>(got));
    }
    return all;
  }

private:
  void restore() {
    if (saved_ < 0) return;
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    saved_ = -1;
  }

  int saved_;
  int read_end_ = -1;
};

std::string line_of(std::string_view message, std::initializer_list<log_field> fields = {}) {
  captured_stderr captured;
  logger().warn(message, fields);
  return captured.text();
}

struct sink {
  std::vector<std::string> seen;

  static void write(void* state, const log_record& record) {
    std::ostringstream text;
    text << std::boolalpha << name_of(record.level) << '|' << record.message;
    for (const log_field& field : record.fields) {
      field.visit([&](auto value) { text << '|' << field.name() << ':' << value; });
    }
    static_cast<sink*>(state)->seen.push_back(text.str());
  }
};

TEST(logger, hands_level_message_and_fields_to_its_callback) {
  sink to;
  const logger log(sink::write, &to, log_level::trace);
  const std::string owned = "owned";
  log.write(log_level::warn, "all kinds",
            {{"text", "constant"},
             {"string", owned},
             {"int", -7},
             {"size", sizeof(int)},
             {"least", std::numeric_limits<std::int64_t>::min()},
             {"most", std::numeric_limits<std::uint64_t>::max()},
             {"real", 0.5},
             {"float", 0.25F},
             {"yes", true}});
  EXPECT_THAT(to.seen, ElementsAre("warn|all kinds|text:constant|string:owned|int:-7|size:4"
                                   "|least:-9223372036854775808|most:18446744073709551615"
                                   "|real:0.5|float:0.25|yes:true"));
}

TEST(logger, has_a_function_for_each_level) {
  sink to;
  const logger log(sink::write, &to, log_level::trace);
  log.trace("a");
  log.debug("b");
  log.info("c");
  log.warn("d");
  log.error("e", {{"n", 1}});
  EXPECT_THAT(to.seen, ElementsAre("trace|a", "debug|b", "info|c", "warn|d", "error|e|n:1"));
}

TEST(logger, writes_its_minimum_level_and_above) {
  sink to;
  const logger log(sink::write, &to, log_level::warn);
  EXPECT_FALSE(log.enabled(log_level::info));
  EXPECT_TRUE(log.enabled(log_level::warn));
  EXPECT_TRUE(log.enabled(log_level::error));
  log.info("below");
  log.warn("at");
  log.error("above");
  EXPECT_THAT(to.seen, ElementsAre("warn|at", "error|above"));
}

TEST(logger, starts_at_info) {
  EXPECT_FALSE(logger().enabled(log_level::debug));
  EXPECT_TRUE(logger().enabled(log_level::info));
  EXPECT_TRUE(logger(log_level::trace).enabled(log_level::trace));
}

TEST(logger, writes_nothing_if_silent) {
  const logger log = logger::silent();
  EXPECT_FALSE(log.enabled(log_level::error));
  captured_stderr captured;
  log.error("unseen");
  EXPECT_EQ(captured.text(), "");
}

TEST(logger, copies_write_to_the_same_place) {
  sink to;
  const logger log(sink::write, &to);
  const logger copy = log;
  log.info("one");
  copy.info("two");
  EXPECT_THAT(to.seen, ElementsAre("info|one", "info|two"));
}

TEST(logger, swallows_what_its_callback_throws) {
  const logger log([](void*, const log_record&) { throw std::runtime_error("disk full"); },
                   nullptr);
  log.error("lost");
}

TEST(logger, refuses_a_callback_that_is_null) {
  EXPECT_DEATH(logger(nullptr, nullptr), "a logger has a function to write with");
}

TEST(standard_error, gets_one_line_for_a_record) {
  EXPECT_EQ(line_of("message", {{"name", "value"}, {"other", "two words"}}),
            "skua warn: message name=value other=\"two words\"\n");
  EXPECT_EQ(line_of("no fields"), "skua warn: no fields\n");
}

TEST(standard_error, shows_numbers_exactly) {
  EXPECT_EQ(line_of("n", {{"a", std::numeric_limits<std::int64_t>::min()},
                          {"b", std::numeric_limits<std::uint64_t>::max()},
                          {"c", 0.1},
                          {"d", -std::numeric_limits<double>::denorm_min()},
                          {"e", std::numeric_limits<double>::infinity()},
                          {"f", false}}),
            "skua warn: n a=-9223372036854775808 b=18446744073709551615 c=0.1 d=-5e-324 e=inf "
            "f=false\n");
}

TEST(standard_error, quotes_a_value_that_would_be_misread) {
  EXPECT_EQ(line_of("q", {{"empty", ""}, {"pair", "a=b"}, {"path", "/etc/hosts"}}),
            "skua warn: q empty=\"\" pair=\"a=b\" path=/etc/hosts\n");
  EXPECT_EQ(line_of("q", {{"quote", "say \"no\""}, {"back", "a\\b"}}),
            "skua warn: q quote=\"say \\\"no\\\"\" back=\"a\\\\b\"\n");
  EXPECT_EQ(line_of("q", {{"odd name=", 1}}), "skua warn: q \"odd name=\"=1\n");
}

TEST(standard_error, escapes_whatever_could_break_or_forge_a_line) {
  EXPECT_EQ(line_of("a\nskua error: forged\r", {{"v", "x\ny\tz"}, {"n\n", 1}}),
            "skua warn: a\\nskua error: forged\\r v=\"x\\ny\\tz\" \"n\\n\"=1\n");
  using namespace std::string_view_literals;
  EXPECT_EQ(line_of("esc", {{"v", "\x1b[31m\0\x7f"sv}}),
            "skua warn: esc v=\"\\x1b[31m\\x00\\x7f\"\n");
  EXPECT_EQ(line_of("say \"hi\" \\n"), "skua warn: say \"hi\" \\\\n\n");
}

TEST(standard_error, shows_utf8_and_escapes_what_is_none) {
  EXPECT_EQ(line_of("città 東京 🐦"), "skua warn: città 東京 🐦\n");
  const auto escaped = [](std::string_view bytes) { return line_of(bytes).substr(11); };
  EXPECT_EQ(escaped("\x80 \xc3 \xc3"), "\\x80 \\xc3 \\xc3\n") << "torn";
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf\n") << "two bytes where one is enough";
  EXPECT_EQ(escaped("\xe0\x82\xa9"), "\\xe0\\x82\\xa9\n") << "three bytes where two are enough";
  EXPECT_EQ(escaped("\xf0\x82\x82\xac"), "\\xf0\\x82\\x82\\xac\n") << "four where three are enough";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80\n") << "half of a surrogate pair";
  EXPECT_EQ(escaped("\xf4\x90\x80\x80 \xff"), "\\xf4\\x90\\x80\\x80 \\xff\n") << "past the last";
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b\n") << "a control character of terminals";
  EXPECT_EQ(escaped("\xe2\x80\xa8"), "\\xe2\\x80\\xa8\n") << "a line separator";
}

TEST(standard_error, cuts_a_long_line_and_says_so) {
  const std::string line = line_of("long", {{"v", std::string(10'000, 'x')}, {"after", 1}});
  EXPECT_EQ(line.size(), 2048U);
  EXPECT_THAT(line, StartsWith("skua warn: long v=xxx"));
  EXPECT_THAT(line, EndsWith("xxx [truncated]\n"));
}

TEST(standard_error, keeps_a_line_whole_up_to_the_limit) {
  const std::string frame = line_of("");
  const std::string fits(2048 - std::string(" [truncated]").size() - frame.size(), 'x');
  EXPECT_EQ(line_of(fits), "skua warn: " + fits + "\n");
  EXPECT_THAT(line_of(fits + "x"), EndsWith("x [truncated]\n"));
}

TEST(standard_error, cuts_between_characters_only) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string birds(shift, 'x');
    std::string bells(shift, 'x');
    for (int n = 0; n < 1000; ++n) {
      birds += "🐦";
      bells += '\a';
    }
    EXPECT_THAT(line_of(birds), EndsWith("🐦 [truncated]\n"));
    EXPECT_THAT(line_of(bells), EndsWith("\\x07 [truncated]\n"));
  }
}

TEST(standard_error, never_mixes_the_lines_of_several_threads) {
  constexpr int each = 40;
  const std::string filler(300, 'x');
  captured_stderr captured;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&filler] {
        for (int n = 0; n < each; ++n) logger().info("line", {{"v", filler}});
      });
    }
  }
  std::istringstream lines(captured.text());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_EQ(line, "skua info: line v=" + filler);
  }
  EXPECT_EQ(count, 4 * each);
}

TEST(logger, never_allocates) {
  const std::string long_text(10'000, 'x');
  if (allocations == 0) GTEST_SKIP() << "the sanitizer's operator new counts nothing for us";
  captured_stderr captured;
  const int before = allocations;
  logger().warn("a message", {{"text", long_text}, {"real", 1e300}, {"whole", 1}});
  EXPECT_EQ(allocations, before);
}

TEST(standard_error, that_is_closed_harms_nobody_and_leaves_errno_alone) {
  const int saved = dup(STDERR_FILENO);
  close(STDERR_FILENO);
  errno = EAGAIN;
  logger().warn("unseen");
  const int after = errno;
  dup2(saved, STDERR_FILENO);
  close(saved);
  EXPECT_EQ(after, EAGAIN);
}

}  // namespace
