// tests/redis/commands_test.cpp: each command does to the keys what clients of Redis expect.
#include "commands.hpp"

#include "hub.hpp"
#include "reply.hpp"
#include "store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

/// A client, whose time is what the test says.
class commands : public testing::Test {
protected:
  std::string ask(std::initializer_list<std::string_view> all) { return ask(client_, all); }
  std::string ask(redis::hub::listener& who, std::initializer_list<std::string_view> all) {
    const redis::words found(all);
    redis::replies out;
    redis::call what{found, keys_, channels_, who, now_, out};
    redis::execute(what);
    quits_ = what.quits;
    return std::string(out.text());
  }

  skua::instant now_;
  redis::store keys_;
  redis::hub channels_;
  redis::hub::listener client_{channels_};
  bool quits_ = false;
};

const std::string none = "$-1\r\n";
const std::string ok = "+OK\r\n";

TEST_F(commands, set_and_get) {
  EXPECT_EQ(ask({"GET", "k"}), none);
  EXPECT_EQ(ask({"set", "k", "v"}), ok);
  EXPECT_EQ(ask({"GeT", "k"}), "$1\r\nv\r\n");
  EXPECT_EQ(ask({"SET", "k", ""}), ok);
  EXPECT_EQ(ask({"GET", "k"}), "$0\r\n\r\n");
  EXPECT_EQ(ask({"DBSIZE"}), ":1\r\n");
}

TEST_F(commands, set_only_if_there_is_one_or_none) {
  EXPECT_EQ(ask({"SET", "k", "a", "XX"}), none);
  EXPECT_EQ(ask({"SET", "k", "a", "nx"}), ok);
  EXPECT_EQ(ask({"SET", "k", "b", "NX"}), none);
  EXPECT_EQ(ask({"GET", "k"}), "$1\r\na\r\n");
  EXPECT_EQ(ask({"SET", "k", "c", "xx"}), ok);
  EXPECT_EQ(ask({"GET", "k"}), "$1\r\nc\r\n");
}

TEST_F(commands, set_refuses_what_makes_no_sense) {
  const std::string syntax = "-ERR syntax error\r\n";
  EXPECT_EQ(ask({"SET", "k", "v", "NX", "XX"}), syntax);
  EXPECT_EQ(ask({"SET", "k", "v", "EX"}), syntax);
  EXPECT_EQ(ask({"SET", "k", "v", "EX", "1", "PX", "1"}), syntax);
  EXPECT_EQ(ask({"SET", "k", "v", "NOW"}), syntax);
  EXPECT_EQ(ask({"SET", "k", "v", "EX", "1s"}), "-ERR value is not an integer or out of range\r\n");
  for (const std::string_view time : {"0", "-1", "9223372036854775807"})
    EXPECT_EQ(ask({"SET", "k", "v", "PX", time}), "-ERR invalid expire time in 'set' command\r\n");
  EXPECT_EQ(ask({"EXISTS", "k"}), ":0\r\n");
}

TEST_F(commands, a_key_ends_when_its_time_is_over) {
  ask({"SET", "k", "v", "PX", "1500"});
  EXPECT_EQ(ask({"TTL", "k"}), ":2\r\n");
  now_ = now_ + 1499ms;
  EXPECT_EQ(ask({"EXISTS", "k", "k", "other"}), ":2\r\n");
  now_ = now_ + 1ms;
  EXPECT_EQ(ask({"GET", "k"}), none);
  EXPECT_EQ(ask({"TTL", "k"}), ":-2\r\n");
  EXPECT_EQ(ask({"DBSIZE"}), ":0\r\n");
}

TEST_F(commands, one_that_has_ended_is_new_to_nx_and_not_there_to_del) {
  ask({"SET", "k", "v", "EX", "1"});
  ask({"SET", "other", "v", "EX", "1"});
  now_ = now_ + 1s;
  EXPECT_EQ(ask({"DEL", "other"}), ":0\r\n");
  EXPECT_EQ(ask({"SET", "k", "w", "NX"}), ok);
  EXPECT_EQ(ask({"TTL", "k"}), ":-1\r\n");
}

TEST_F(commands, a_set_without_a_time_takes_the_old_time_away) {
  ask({"SET", "k", "v", "EX", "10"});
  ask({"SET", "k", "w"});
  EXPECT_EQ(ask({"TTL", "k"}), ":-1\r\n");
}

TEST_F(commands, expire) {
  EXPECT_EQ(ask({"EXPIRE", "k", "5"}), ":0\r\n");
  ask({"SET", "k", "v"});
  EXPECT_EQ(ask({"EXPIRE", "k", "5"}), ":1\r\n");
  EXPECT_EQ(ask({"TTL", "k"}), ":5\r\n");
  EXPECT_EQ(ask({"INCR", "n"}), ":1\r\n");
  EXPECT_EQ(ask({"EXPIRE", "n", "9"}), ":1\r\n");
  EXPECT_EQ(ask({"INCR", "n"}), ":2\r\n");
  EXPECT_EQ(ask({"TTL", "n"}), ":9\r\n");
  EXPECT_EQ(ask({"EXPIRE", "k", "-1"}), ":1\r\n");
  EXPECT_EQ(ask({"EXISTS", "k"}), ":0\r\n");
  EXPECT_EQ(ask({"EXPIRE", "n", "soon"}), "-ERR value is not an integer or out of range\r\n");
}

TEST_F(commands, del_counts) {
  ask({"SET", "a", "1"});
  ask({"SET", "b", "1"});
  EXPECT_EQ(ask({"DEL", "a", "b", "c", "a"}), ":2\r\n");
  EXPECT_EQ(ask({"DBSIZE"}), ":0\r\n");
}

TEST_F(commands, incr) {
  EXPECT_EQ(ask({"INCR", "n"}), ":1\r\n");
  ask({"SET", "n", "-1"});
  EXPECT_EQ(ask({"INCR", "n"}), ":0\r\n");
  for (const std::string_view bad : {"", " 1", "1 ", "x", "9223372036854775808"}) {
    ask({"SET", "n", bad});
    EXPECT_EQ(ask({"INCR", "n"}), "-ERR value is not an integer or out of range\r\n") << bad;
  }
  ask({"SET", "n", "9223372036854775807"});
  EXPECT_EQ(ask({"INCR", "n"}), "-ERR increment or decrement would overflow\r\n");
  EXPECT_EQ(ask({"GET", "n"}), "$19\r\n9223372036854775807\r\n");
}

TEST_F(commands, small_talk) {
  EXPECT_EQ(ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(ask({"PING", "x"}), "$1\r\nx\r\n");
  EXPECT_EQ(ask({"ECHO", "x\r\ny"}), "$4\r\nx\r\ny\r\n");
  EXPECT_EQ(ask({"COMMAND", "DOCS"}), "*0\r\n");
  EXPECT_EQ(ask({"CONFIG", "GET", "save"}), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(ask({"SELECT", "0"}), ok);
  EXPECT_FALSE(quits_);
  EXPECT_EQ(ask({"QUIT"}), ok);
  EXPECT_TRUE(quits_);
}

TEST_F(commands, errors_are_one_line) {
  EXPECT_EQ(ask({"FLY\r\n+OK"}), "-ERR unknown command 'FLY??+OK'\r\n");
  EXPECT_EQ(ask({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(ask({"GET", "a", "b"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(ask({"HELLO", "3"}).substr(0, 8), "-NOPROTO");
  EXPECT_EQ(ask({"SELECT", "1"}), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(ask({"CONFIG", "SET", "a", "b"}), "-ERR nothing can be configured\r\n");
}

TEST_F(commands, a_sweep_finds_what_nobody_asks_for) {
  for (int i = 0; i < 100; ++i) ask({"SET", std::to_string(i), "v", "EX", i % 2 == 0 ? "1" : "9"});
  now_ = now_ + 1s;
  std::size_t removed = 0;
  for (int round = 0; round < 1000 && removed < 50; ++round) removed += keys_.sweep(now_, 7);
  EXPECT_EQ(removed, 50u);
  EXPECT_EQ(keys_.size(), 50u);
  EXPECT_EQ(keys_.sweep(now_, 1'000'000), 0u);
}

// --- subscriptions

TEST_F(commands, messages_reach_all_who_listen_until_they_leave) {
  EXPECT_EQ(ask({"PUBLISH", "a", "x"}), ":0\r\n");
  redis::hub::listener one(channels_);
  EXPECT_EQ(ask(one, {"SUBSCRIBE", "a", "b", "a"}),
            "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"
            "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:2\r\n");
  {
    redis::hub::listener other(channels_);
    ask(other, {"SUBSCRIBE", "a"});
    EXPECT_EQ(ask({"PUBLISH", "a", "x"}), ":2\r\n");
  }
  EXPECT_EQ(ask({"PUBLISH", "a", "y"}), ":1\r\n");
  EXPECT_EQ(ask({"PUBLISH", "c", "z"}), ":0\r\n");
  redis::replies got;
  one.take_messages(got);
  EXPECT_EQ(got.text(),
            "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"
            "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\ny\r\n");
}

TEST_F(commands, what_was_published_before_comes_before_the_end_of_a_subscription) {
  redis::hub::listener one(channels_);
  ask(one, {"SUBSCRIBE", "a"});
  ask({"PUBLISH", "a", "x"});
  EXPECT_EQ(ask(one, {"UNSUBSCRIBE"}),
            "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"
            "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
  EXPECT_EQ(ask(one, {"UNSUBSCRIBE"}), "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n");
  EXPECT_EQ(ask(one, {"UNSUBSCRIBE", "b"}), "*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:0\r\n");
}

TEST_F(commands, who_listens_may_not_ask_for_keys) {
  redis::hub::listener one(channels_);
  ask(one, {"SUBSCRIBE", "a"});
  EXPECT_EQ(ask(one, {"GET", "k"}).substr(0, 25), "-ERR Can't execute 'get':");
  EXPECT_EQ(ask(one, {"PING"}), "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  ask(one, {"UNSUBSCRIBE", "a"});
  EXPECT_EQ(ask(one, {"GET", "k"}), none);
}

TEST_F(commands, who_is_too_far_behind_gets_no_more) {
  redis::hub::listener one(channels_);
  ask(one, {"SUBSCRIBE", "a"});
  for (int i = 0; i < 2000; ++i) ask({"PUBLISH", "a", "x"});
  EXPECT_EQ(one.messages().size(), 1024u);
  EXPECT_FALSE(one.messages().is_over());
  redis::replies got;
  one.take_messages(got);
  EXPECT_TRUE(one.messages().is_over());
}

}  // namespace
