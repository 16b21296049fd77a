// tests/io/segmentation_test.cpp: however a stream is cut on its way, the same messages come out.
#include "skua/base/random.hpp"
#include "skua/driver/fault_plan.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace io = skua::io;
using skua::framed;
using skua::framing;
using skua::random_generator;
using skua::result;
using skua::sync_wait;
using skua::task;
using skua_test::bytes_of;
using skua_test::text_of;

using strings = std::vector<std::string>;

/// How many bytes each read gives, or each write takes: always so many, or at random.
class cuts {
public:
  explicit cuts(std::size_t length) : length_(length) {}
  explicit cuts(random_generator random) : random_(random) {}
  std::size_t next(std::size_t most) {
    if (most == 0) return 0;
    const std::size_t length =
        random_ ? 1 + random_->below(random_->below(2) == 0 ? 3 : 40) : length_;
    return std::min(length, most);
  }

private:
  std::size_t length_ = 0;
  std::optional<random_generator> random_;
};

class cut_reader {
public:
  cut_reader(std::string_view text, cuts how) : left_(bytes_of(text)), how_(std::move(how)) {}
  task<result<std::size_t>> read(std::span<std::byte> into) {
    const std::size_t count = how_.next(std::min(into.size(), left_.size()));
    std::ranges::copy(left_.first(count), into.begin());
    left_ = left_.subspan(count);
    co_return count;
  }

private:
  std::span<const std::byte> left_;
  cuts how_;
};

class cut_writer {
public:
  explicit cut_writer(cuts how) : how_(std::move(how)) {}
  task<result<std::size_t>> write(std::span<const std::byte> from) {
    const std::size_t count = how_.next(from.size());
    taken += text_of(from.first(count));
    co_return count;
  }
  std::string taken;

private:
  cuts how_;
};

// --- one way to write messages to a stream and to read them again

struct lines {
  static std::string encoded(const strings& messages) {
    std::string all;
    for (const std::string& one : messages) all += one + (one.size() % 2 == 0 ? "\n" : "\r\n");
    return all;
  }
};
struct lengths {
  static std::string encoded(const strings& messages) {
    std::string all;
    for (const std::string& one : messages) {
      all += static_cast<char>(one.size() >> 8);
      all += static_cast<char>(one.size());
      all += one;
    }
    return all;
  }
};
struct delimiters {
  static constexpr std::string_view end = "|=|";
  static std::string encoded(const strings& messages) {
    std::string all;
    for (const std::string& one : messages) all += one + std::string(end);
    return all;
  }
};

template <typename Next>
task<strings> until_the_end(Next next) {
  strings all;
  for (;;) {
    const result<std::optional<skua::frame>> one = co_await next();
    if (!one.has_value()) all.push_back(one.error().message());
    if (!one.has_value() || !one->has_value()) co_return all;
    all.emplace_back((*one)->text());
  }
}

struct framed_lines : lines {
  static task<strings> decoded(auto& from) {
    framed input(from, framing::lines());
    auto next = [&] { return input.next(); };
    co_return co_await until_the_end(next);
  }
};
struct read_lines : lines {
  static task<strings> decoded(auto& from) {
    io::buffered_reader input(from);
    auto next = [&] { return input.read_line(); };
    co_return co_await until_the_end(next);
  }
};
struct framed_lengths : lengths {
  static task<strings> decoded(auto& from) {
    framed input(from, framing::length_first(2));
    auto next = [&] { return input.next(); };
    co_return co_await until_the_end(next);
  }
};
struct read_delimiters : delimiters {
  static task<strings> decoded(auto& from) {
    io::buffered_reader input(from);
    auto next = [&] { return io::read_until(input, end); };
    co_return co_await until_the_end(next);
  }
};
/// A length, and then exactly so many bytes.
struct exact : lengths {
  static task<strings> decoded_from(auto& from) {
    strings all;
    for (;;) {
      std::array<std::byte, 2> head{};
      const auto got = co_await io::read_exactly(from, head);
      if (!got.has_value()) co_return all;
      std::string body(
          (std::to_integer<std::size_t>(head[0]) << 8) | std::to_integer<std::size_t>(head[1]),
          ' ');
      const auto rest = co_await io::read_exactly(from, std::as_writable_bytes(std::span(body)));
      if (!rest.has_value()) co_return all;
      all.push_back(std::move(body));
    }
  }
  static task<strings> decoded(auto& from) { return decoded_from(from); }
};
struct exact_buffered : exact {
  static task<strings> decoded(auto& from) {
    io::buffered_reader input(from);
    co_return co_await decoded_from(input);
  }
};
/// A length, and then everything of a stream that ends after so many bytes.
struct limited : lengths {
  static task<strings> decoded(auto& from) {
    strings all;
    for (;;) {
      std::array<std::byte, 2> head{};
      const auto got = co_await io::read_exactly(from, head);
      if (!got.has_value()) co_return all;
      auto part = io::limit(from, (std::to_integer<std::uint64_t>(head[0]) << 8) |
                                      std::to_integer<std::uint64_t>(head[1]));
      std::string body;
      const auto all_of_it = co_await io::read_to_end(part, body, 100'000);
      EXPECT_TRUE(all_of_it.has_value());
      all.push_back(std::move(body));
    }
  }
};
/// Through everything that stands between a stream and its user.
struct stacked : lines {
  static task<strings> decoded(auto& from) {
    cut_writer copy(cuts(5));
    auto both = io::tee(from, copy);
    cut_writer again(cuts(3));
    io::buffered_writer output(again, 10);
    io::buffered_reader input(both);
    const auto copied = co_await io::copy(input, output);
    EXPECT_TRUE(copied.has_value());
    const auto flushed = co_await output.flush();
    EXPECT_TRUE(flushed.has_value());
    EXPECT_EQ(again.taken, copy.taken);
    cut_reader last(again.taken, cuts(7));
    co_return co_await read_lines::decoded(last);
  }
};

strings random_messages(random_generator& random) {
  strings all(random.below(20));
  for (std::string& one : all) {
    const std::uint64_t most = random.below(10) == 0 ? 3'000 : 20;
    for (std::uint64_t left = random.below(most); left > 0; --left)
      one += "ab|=|\r"[random.below(6)];
    while (!one.empty() && (one.back() == '\r' || one.back() == '|' || one.back() == '='))
      one.pop_back();
    for (std::size_t at = one.find("|=|"); at != std::string::npos; at = one.find("|=|"))
      one[at] = 'c';
  }
  return all;
}

template <typename Way>
class segmentation : public testing::Test {};
using ways = testing::Types<framed_lines, read_lines, framed_lengths, read_delimiters, exact,
                            exact_buffered, limited, stacked>;
TYPED_TEST_SUITE(segmentation, ways);

TYPED_TEST(segmentation, makes_no_difference) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  random_generator random(seed);
  for (const skua_test::budget time(0.15); time.left() && !testing::Test::HasFailure();) {
    const strings messages = random_messages(random);
    const std::string stream = TypeParam::encoded(messages);
    for (std::size_t length = 1; length <= 12; ++length) {
      cut_reader from(stream, cuts(length));
      ASSERT_EQ(sync_wait(TypeParam::decoded(from)), messages) << length << ", seed " << seed;
    }
    cut_reader from(stream, cuts(random.split()));
    ASSERT_EQ(sync_wait(TypeParam::decoded(from)), messages) << "seed " << seed;
    // All writes are cut, too, and so is what they are made of.
    cut_writer to{cuts(random.split())};
    std::vector<std::span<const std::byte>> pieces;
    cuts piece(random.split());
    for (auto left = bytes_of(stream); !left.empty(); left = left.subspan(pieces.back().size()))
      pieces.push_back(left.first(piece.next(left.size())));
    ASSERT_TRUE(sync_wait(io::write_all(to, pieces)).has_value());
    ASSERT_EQ(to.taken, stream);
  }
}

TYPED_TEST(segmentation, makes_no_difference_in_memory) {
  random_generator random(std::random_device{}());
  auto body = [](const strings& messages, std::size_t capacity) -> task<> {
    auto [near, far] = io::duplex(capacity);
    const std::string stream = TypeParam::encoded(messages);
    auto writes = [](io::duplex_stream& to, std::string_view all) -> task<> {
      const auto written = co_await io::write_all(to, bytes_of(all));
      EXPECT_TRUE(written.has_value());
      const auto ended = co_await to.shutdown_write();
      EXPECT_TRUE(ended.has_value());
    };
    auto [got, none] = co_await skua::when_all(TypeParam::decoded(near), writes(far, stream));
    EXPECT_EQ(got, messages);
  };
  for (const std::size_t capacity : {1U, 2U, 3U, 5U, 64U, 10'000U})
    sync_wait(body(random_messages(random), capacity));
}

// By the kernel and its short reads and writes: those that a plan asks for.
TYPED_TEST(segmentation, makes_no_difference_to_the_kernel) {
  const std::uint64_t seed = std::random_device()();
  random_generator random(seed);
  auto body = [](const strings& messages) -> task<> {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    io::descriptor out{skua::unique_fd(ends[0])};
    const std::string stream = TypeParam::encoded(messages);
    auto writes = [](int fd, std::string_view all) -> task<> {
      io::descriptor in{skua::unique_fd(fd)};
      const auto written = co_await io::write_all(in, bytes_of(all));
      EXPECT_TRUE(written.has_value());
    };
    auto [got, none] = co_await skua::when_all(TypeParam::decoded(out), writes(ends[1], stream));
    EXPECT_EQ(got, messages);
  };
  for (const skua_test::kind& which : {skua_test::alone, skua_test::two_workers}) {
    for (int round = 0; round < 10; ++round) {
      skua::fault_plan plan;
      for (std::uint64_t number = 1; number < 10'000; ++number)
        plan.shorten(number, 1 + random.below(random.below(2) == 0 ? 3 : 50));
      skua::config settings = which.settings();
      settings.faults = &plan;
      skua_test::started(settings).block_on(body(random_messages(random)));
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
  }
}

}  // namespace
