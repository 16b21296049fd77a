// tests/redis/resp_test.cpp: commands are found however they come in, and nothing else is.
#include "resp.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using redis::limits;
using redis::parse;
using redis::parsed;
using commands = std::vector<std::vector<std::string>>;

/// What a session does: takes whole commands off the front of what has come, as soon as the parser
/// says that another look is worth it.
class client {
public:
  void add(std::string_view piece) {
    waiting_ += piece;
    while (error.empty() && waiting_.size() >= needed_) {
      redis::words found;
      const parsed next = parse(waiting_, found);
      if (next.what == parsed::kind::error) error = next.error;
      if (next.what == parsed::kind::more) {
        EXPECT_GT(next.length, waiting_.size()) << "a look that sees nothing new";
        needed_ = next.length;
      }
      if (next.what != parsed::kind::command) return;
      if (!found.empty()) all.emplace_back(found.begin(), found.end());
      waiting_.erase(0, next.length);
      needed_ = 1;
    }
  }

  commands all;
  std::string error;

private:
  std::string waiting_;
  std::size_t needed_ = 1;
};

parsed::kind kind_of(std::string_view bytes, const limits& most = limits()) {
  redis::words found;
  return parse(bytes, found, most).what;
}
std::string error_of(std::string_view bytes, const limits& most = limits()) {
  redis::words found;
  return std::string(parse(bytes, found, most).error);
}

constexpr std::string_view zero_byte("a\0b", 3);

const std::string stream =
    std::string("*1\r\n$4\r\nPING\r\n") + "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n" +
    "ECHO \t word\r\n" + "\r\n" + "*0\r\n" + "*-1\r\n" + "PING\n" + "*2\r\n$3\r\nGET\r\n$3\r\n" +
    std::string(zero_byte) + "\r\n" + "*2\r\n$4\r\nECHO\r\n$6\r\n\r\n$3\r\n\r\n";
const commands expected = {{"PING"},
                           {"SET", "k", ""},
                           {"ECHO", "word"},
                           {"PING"},
                           {"GET", std::string(zero_byte)},
                           {"ECHO", "\r\n$3\r\n"}};

TEST(resp, all_at_once) {
  client one;
  one.add(stream);
  EXPECT_EQ(one.all, expected);
  EXPECT_EQ(one.error, "");
}

TEST(resp, in_three_pieces_cut_anywhere) {
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    for (std::size_t second = first; second <= stream.size(); ++second) {
      client one;
      one.add(std::string_view(stream).substr(0, first));
      one.add(std::string_view(stream).substr(first, second - first));
      one.add(std::string_view(stream).substr(second));
      ASSERT_EQ(one.all, expected) << "cut at " << first << " and " << second;
      ASSERT_EQ(one.error, "");
    }
  }
}

TEST(resp, in_pieces_of_every_size) {
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    client one;
    for (std::size_t at = 0; at < stream.size(); at += size)
      one.add(std::string_view(stream).substr(at, size));
    ASSERT_EQ(one.all, expected) << "pieces of " << size;
  }
}

TEST(resp, every_beginning_of_a_command_waits_for_more) {
  const std::string_view whole = "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n";
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(kind_of(whole.substr(0, length)), parsed::kind::more) << length;
  EXPECT_EQ(kind_of(whole), parsed::kind::command);
}

TEST(resp, a_large_word_is_looked_at_again_when_it_is_whole) {
  redis::words found;
  const std::string_view head = "*2\r\n$4\r\nECHO\r\n$100000\r\n";
  EXPECT_EQ(parse(head, found).length, head.size() + 100'002);
}

TEST(resp, what_is_not_the_protocol) {
  for (const std::string_view bytes :
       {"*x\r\n", "*\r\n", "*-\r\n", "*1\rx", "*1\n", "*1 \r\n", "*99999999999999999999\r\n"})
    EXPECT_EQ(error_of(bytes), "invalid multibulk length") << bytes;
  for (const std::string_view bytes :
       {"*1\r\n$x\r\n", "*1\r\n$-1\r\n", "*1\r\n$\r\n", "*1\r\n$1\rx", "*1\r\n$9999999999\r\n",
        "*1\r\n$99999999999999999999\r\n"})
    EXPECT_EQ(error_of(bytes), "invalid bulk length") << bytes;
  EXPECT_EQ(error_of("*1\r\nPING\r\n"), "expected '$'");
  EXPECT_EQ(error_of("*1\r\n$4\r\nPINGxx"), "expected the end of a word");
}

TEST(resp, an_error_is_seen_in_pieces_too) {
  const std::string text = "*1\r\n$4\r\nPING\r\n*1\r\nPING\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    client one;
    one.add(std::string_view(text).substr(0, cut));
    one.add(std::string_view(text).substr(cut));
    EXPECT_EQ(one.all, commands{{"PING"}}) << cut;
    EXPECT_EQ(one.error, "expected '$'") << cut;
  }
}

TEST(resp, limits_hold_before_memory_is_needed) {
  limits few;
  few.words = 2;
  few.word = 4;
  few.command = 30;
  few.line = 10;
  EXPECT_EQ(error_of("*3\r\n", few), "invalid multibulk length");
  EXPECT_EQ(kind_of("*2\r\n$4\r\nECHO\r\n$4\r\nword\r\n", few), parsed::kind::command);
  EXPECT_EQ(error_of("*1\r\n$5\r\n", few), "invalid bulk length");
  few.command = 23;
  EXPECT_EQ(error_of("*2\r\n$4\r\nECHO\r\n$4\r\n", few), "command too big");
  EXPECT_EQ(error_of("0123456789", few), "too big inline request");
  EXPECT_EQ(error_of("0123456789\n", few), "too big inline request");
  EXPECT_EQ(kind_of("012345678\n", few), parsed::kind::command);
  EXPECT_EQ(kind_of("012345678", few), parsed::kind::more);
  EXPECT_EQ(error_of("a b c\n", few), "too many words");
}

}  // namespace
