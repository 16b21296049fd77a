// tests/sync/cancel_stop_token_test.cpp: a cancellation and a std::stop_token tell each other.
#include "skua/sync/cancel_stop_token.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stop_token>

namespace {

using skua::cancel_on_stop;
using skua::cancel_source;
using skua::cancel_stop_token;
using skua::cancel_token;

TEST(cancel_on_stop, cancels_when_a_stop_is_asked_for) {
  std::stop_source stop;
  const cancel_source source;
  const cancel_source child = source.child();
  const cancel_on_stop link(stop.get_token(), source);
  EXPECT_FALSE(source.is_cancelled());
  stop.request_stop();
  EXPECT_TRUE(source.is_cancelled());
  EXPECT_TRUE(child.is_cancelled());
}

TEST(cancel_on_stop, cancels_at_once_if_it_was_asked_for_before) {
  std::stop_source stop;
  stop.request_stop();
  const cancel_source source;
  const cancel_on_stop link(stop.get_token(), source);
  EXPECT_TRUE(source.is_cancelled());
}

TEST(cancel_on_stop, that_is_gone_cancels_nothing) {
  std::stop_source stop;
  const cancel_source source;
  {
    const cancel_on_stop link(stop.get_token(), source);
  }
  stop.request_stop();
  EXPECT_FALSE(source.is_cancelled());
}

TEST(cancel_stop_token, is_told_of_a_cancellation) {
  const cancel_source parent;
  const cancel_source child = parent.child();
  const std::stop_token stop = cancel_stop_token::of(child.token());
  const std::stop_token same = cancel_stop_token::of(child.token());
  EXPECT_TRUE(stop.stop_possible());
  EXPECT_FALSE(stop.stop_requested());
  int calls = 0;
  const std::stop_callback counts(stop, [&calls] { ++calls; });
  parent.cancel();
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(same.stop_requested());
  EXPECT_EQ(calls, 1);
}

TEST(cancel_stop_token, is_told_of_an_earlier_cancellation) {
  const cancel_source source;
  source.cancel();
  EXPECT_TRUE(cancel_stop_token::of(source.token()).stop_requested());
}

TEST(cancel_stop_token, of_nothing_is_never_stopped) {
  EXPECT_FALSE(cancel_stop_token::of(cancel_token()).stop_possible());
}

// The callback has the last reference.
TEST(cancel_stop_token, may_see_the_source_go_in_its_callback) {
  std::optional<cancel_source> source(std::in_place);
  const std::stop_token stop = cancel_stop_token::of(source->token());
  bool told = false;
  const std::stop_callback drops(stop, [&] {
    source.reset();
    told = true;
  });
  source->cancel();
  EXPECT_TRUE(told);
}

TEST(cancel_stop_token, and_back_again) {
  const cancel_source first;
  const cancel_source second;
  const cancel_on_stop link(cancel_stop_token::of(first.token()), second);
  first.cancel();
  EXPECT_TRUE(second.is_cancelled());
}

}  // namespace
