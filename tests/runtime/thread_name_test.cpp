// tests/runtime/thread_name_test.cpp: the index is always to be seen, the prefix as far as it fits.
#include "runtime/thread_name.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <limits>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::string own_name() {
  char name[64] = {};
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  return name;
}

std::string named(std::string_view prefix, std::size_t index) {
  std::string seen;
  std::thread([&] {
    skua::name_this_thread(prefix, index);
    seen = own_name();
  }).join();
  return seen;
}

TEST(thread_name, is_prefix_and_index) {
  EXPECT_EQ(named("skua", 0), "skua-0");
  EXPECT_EQ(named("skua", 12), "skua-12");
  EXPECT_EQ(named("skua-pool", 511), "skua-pool-511");
}

TEST(thread_name, may_have_fifteen_bytes) {
  EXPECT_EQ(named("thirteen-char", 7), "thirteen-char-7");
}

TEST(thread_name, is_cut_in_its_prefix) {
  EXPECT_EQ(named("fourteen-chars", 7), "fourteen-char-7");
  EXPECT_EQ(named("a-service-with-a-long-name", 7), "a-service-wit-7");
  EXPECT_EQ(named("a-service-with-a-long-name", 12345), "a-service-12345");
}

TEST(thread_name, is_never_cut_within_a_character) {
  EXPECT_EQ(named("twelve-bytesé", 7), "twelve-bytes-7");
  EXPECT_EQ(named("eleven-byteé", 7), "eleven-byteé-7");
  EXPECT_EQ(named("🐦🐦🐦🐦", 7), "🐦🐦🐦-7");
  EXPECT_EQ(named("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 7), "7");
}

TEST(thread_name, without_prefix_is_the_index) {
  EXPECT_EQ(named("", 7), "7");
  using namespace std::string_view_literals;
  EXPECT_EQ(named("\0hidden"sv, 7), "7");
  EXPECT_EQ(named("seen\0hidden"sv, 7), "seen-7");
}

TEST(thread_name, shows_as_much_of_a_huge_index_as_fits) {
  EXPECT_EQ(named("skua", 1'234'567'890'123), "s-1234567890123");
  EXPECT_EQ(named("skua", 12'345'678'901'234), "12345678901234");
  EXPECT_EQ(named("skua", 123'456'789'012'345), "123456789012345");
  EXPECT_EQ(named("skua", std::numeric_limits<std::size_t>::max()), "744073709551615");
}

TEST(thread_name, is_the_calling_thread_s_alone) {
  const std::string before = own_name();
  EXPECT_EQ(named("other", 1), "other-1");
  EXPECT_EQ(own_name(), before);
}

}  // namespace
