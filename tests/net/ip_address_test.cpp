// tests/net/ip_address_test.cpp: addresses from text and back, as the C library has them.
#include "skua/net/ip_address.hpp"

#include "support/budget.hpp"
#include "support/errors.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;
using skua::net::ip_address;
using skua_test::error_of;

ip_address parsed(std::string_view text) {
  return ip_address::parse(text).value();
}

TEST(ip_address, knows_the_special_ones) {
  EXPECT_EQ(ip_address().to_string(), "0.0.0.0");
  EXPECT_EQ(ip_address::v4_any(), ip_address());
  EXPECT_EQ(ip_address::v4_loopback().to_string(), "127.0.0.1");
  EXPECT_EQ(ip_address::v6_any().to_string(), "::");
  EXPECT_EQ(ip_address::v6_loopback().to_string(), "::1");
  EXPECT_TRUE(ip_address::v4_any().is_any());
  EXPECT_TRUE(ip_address::v6_any().is_any());
  EXPECT_FALSE(ip_address::v6_loopback().is_any());
  static_assert(ip_address::v4(10, 0, 0, 1).is_v4() && ip_address::v6_any().is_v6());
}

TEST(ip_address, says_what_it_is) {
  EXPECT_TRUE(parsed("127.9.9.9").is_loopback());
  EXPECT_TRUE(parsed("::1").is_loopback());
  EXPECT_TRUE(parsed("::ffff:127.0.0.1").is_loopback());
  EXPECT_FALSE(parsed("128.0.0.1").is_loopback());
  EXPECT_FALSE(parsed("7f00::1").is_loopback()) << "its first byte means something else";
  EXPECT_TRUE(parsed("224.0.0.1").is_multicast());
  EXPECT_TRUE(parsed("239.255.255.255").is_multicast());
  EXPECT_FALSE(parsed("240.0.0.1").is_multicast());
  EXPECT_TRUE(parsed("ff02::1").is_multicast());
  EXPECT_FALSE(parsed("fe02::1").is_multicast());
  EXPECT_TRUE(parsed("169.254.1.1").is_link_local());
  EXPECT_FALSE(parsed("169.253.1.1").is_link_local());
  EXPECT_TRUE(parsed("fe80::1").is_link_local());
  EXPECT_TRUE(parsed("febf::1").is_link_local());
  EXPECT_FALSE(parsed("fec0::1").is_link_local());
}

TEST(ip_address, maps_version_4_into_6_and_back) {
  const ip_address plain = parsed("192.0.2.7");
  const ip_address mapped(plain.to_v6());
  EXPECT_EQ(mapped.to_string(), "::ffff:192.0.2.7");
  EXPECT_TRUE(mapped.is_v4_mapped());
  EXPECT_EQ(mapped.unmapped(), plain);
  EXPECT_NE(mapped, plain);
  EXPECT_FALSE(parsed("::fffe:192.0.2.7").is_v4_mapped());
  EXPECT_FALSE(parsed("1::ffff:192.0.2.7").is_v4_mapped());
  EXPECT_EQ(parsed("2001:db8::1").unmapped(), parsed("2001:db8::1"));
}

TEST(ip_address, has_a_scope_by_number_or_by_name) {
  const std::uint32_t lo = if_nametoindex("lo");
  ASSERT_NE(lo, 0U);
  const ip_address by_name = parsed("fe80::1%lo");
  EXPECT_EQ(by_name.scope(), lo);
  EXPECT_EQ(by_name, parsed("fe80::1%" + std::to_string(lo)));
  EXPECT_EQ(by_name.to_string(), "fe80::1%" + std::to_string(lo));
  EXPECT_EQ(by_name, parsed("fe80::1").with_scope(lo));
  EXPECT_NE(by_name, parsed("fe80::1"));
  EXPECT_EQ(parsed("fe80::1%4294967295").scope(), 0xffffffffU);
}

TEST(ip_address, is_ordered_by_version_and_bytes) {
  EXPECT_LT(parsed("255.255.255.255"), parsed("::"));
  EXPECT_LT(parsed("1.2.3.4"), parsed("1.2.4.0"));
  EXPECT_LT(parsed("2001::"), parsed("2001::1"));
  EXPECT_LT(parsed("fe80::1%1"), parsed("fe80::1%2"));
}

TEST(ip_address, refuses_what_is_none) {
  constexpr std::array bad = {
      ""sv,           " "sv,         "1"sv,          "1.2.3"sv,          "1.2.3.4.5"sv,
      "256.1.1.1"sv,  "01.2.3.4"sv,  "1.2.3.4 "sv,   " 1.2.3.4"sv,       "+1.2.3.4"sv,
      "0x7f.0.0.1"sv, "1.2.3.4\0"sv, "1.2.3.4\n"sv,  "::1\0"sv,          "1:2"sv,
      ":::"sv,        "::1::"sv,     "12345::"sv,    "g::1"sv,           "[::1]"sv,
      "1.2.3.4:80"sv, "localhost"sv, "1.2.3.4%lo"sv, "fe80::1%"sv,       "%lo"sv,
      "%1"sv,         "::1%lo\0"sv,  "1.2.3.4/8"sv,  "::%99999999999"sv, "1:2:3:4:5:6:7"sv};
  for (const std::string_view text : bad)
    EXPECT_EQ(error_of(ip_address::parse(text)), std::errc::invalid_argument) << text;
  EXPECT_EQ(error_of(ip_address::parse("fe80::1%4294967296")), std::errc::invalid_argument);
  EXPECT_EQ(error_of(ip_address::parse("fe80::1%" + std::string(IF_NAMESIZE, 'x'))),
            std::errc::invalid_argument);
  EXPECT_EQ(error_of(ip_address::parse(std::string(100'000, ':'))), std::errc::invalid_argument);
}

TEST(ip_address, takes_a_scope_that_is_no_number_for_a_name) {
  for (const std::string_view text : {"fe80::1%nosuch0", "fe80::1%1 ", "::%-1", "::%1%2", "::%+1"})
    EXPECT_EQ(error_of(ip_address::parse(text)), std::errc::no_such_device) << text;
}

TEST(ip_address_death, has_four_bytes_or_a_scope_only_where_they_exist) {
  EXPECT_DEATH((void)ip_address::v6_any().to_v4(), "only an IPv4 address");
  EXPECT_DEATH((void)ip_address::v4_any().with_scope(1), "only an IPv6 address");
}

/// What the C library makes of it.
std::optional<std::string> as_the_library_reads(const std::string& text) {
  std::array<unsigned char, 16> bytes;
  std::array<char, INET6_ADDRSTRLEN> back;
  for (const int family : {AF_INET, AF_INET6})
    if (inet_pton(family, text.c_str(), bytes.data()) == 1)
      return inet_ntop(family, bytes.data(), back.data(), back.size());
  return std::nullopt;
}

TEST(ip_address, agrees_with_the_library_about_anything) {
  const skua_test::budget time(0.3);
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  constexpr std::string_view alphabet = "0123456789abcdefABCF::::....x ";
  std::uint64_t valid = 0;
  while (time.left()) {
    std::string text;
    if (random() % 2 == 0) {  // an address, perhaps with a change
      ip_address::v6_bytes bytes;
      for (auto& one : bytes) one = random() % 3 == 0 ? static_cast<unsigned char>(random()) : 0;
      const bool v4 = random() % 2 == 0;
      text = v4 ? ip_address::v4(bytes[0], bytes[1], bytes[2], bytes[3]).to_string()
                : ip_address(bytes).to_string();
      if (random() % 2 == 0) text[random() % text.size()] = alphabet[random() % alphabet.size()];
    } else {
      text.resize(random() % 20);
      std::ranges::generate(text, [&] { return alphabet[random() % alphabet.size()]; });
    }
    const auto expected = as_the_library_reads(text);
    const auto got = ip_address::parse(text);
    ASSERT_EQ(got.has_value(), expected.has_value()) << '"' << text << "\", seed " << seed;
    if (!got) continue;
    ++valid;
    ASSERT_EQ(got->to_string(), *expected);
    ASSERT_EQ(parsed(got->to_string()), *got);
  }
  EXPECT_GT(valid, 0U);
}

}  // namespace
