// tests/base/random_test.cpp: reproducible, uniform, and independent for each worker.
#include "skua/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace {

using skua::random_generator;

static_assert(std::uniform_random_bit_generator<random_generator>);

// Chi-square of `counts`, less its mean and divided by its deviation: within a few units of 0 if
// all are equally likely, whatever their number. The seeds are fixed, so the outcome never changes.
double deviation_from_uniform(const std::vector<std::uint64_t>& counts) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const std::uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    chi_square += off * off / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

// Computed by another program, which agrees with the published test vectors of both algorithms.
TEST(random_generator, gives_the_same_numbers_for_a_seed_for_ever) {
  random_generator random(1);
  EXPECT_EQ(random.next(), 0x08260b0f1b52fcacU);
  EXPECT_EQ(random.next(), 0x5d9320f71ce29ff1U);
  EXPECT_EQ(random.next(), 0x28197699ec67f190U);
  EXPECT_EQ(random.next(), 0x593b393b9d1e5795U);
}

TEST(random_generator, differs_for_different_seeds) {
  std::set<std::uint64_t> first_numbers;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    first_numbers.insert(random_generator(seed).next());
    first_numbers.insert(random_generator(~seed).next());
  }
  EXPECT_EQ(first_numbers.size(), 2000U);
}

TEST(random_generator, sets_each_bit_half_of_the_time) {
  random_generator random(1);
  std::array<std::uint64_t, 64> ones{};
  constexpr int draws = 100'000;
  for (int n = 0; n < draws; ++n) {
    const std::uint64_t number = random.next();
    for (unsigned bit = 0; bit < 64; ++bit) ones[bit] += number >> bit & 1;
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    EXPECT_LT(std::abs(deviation_from_uniform({ones[bit], draws - ones[bit]})), 12) << bit;
  }
}

TEST(random_below, stays_below_and_reaches_every_value_equally_often) {
  random_generator random(1);
  for (const std::uint64_t bound : {2U, 3U, 7U, 10U, 64U, 1000U}) {
    std::vector<std::uint64_t> counts(bound);
    for (std::uint64_t n = 0; n < 1000 * bound; ++n) {
      const std::uint64_t number = random.below(bound);
      ASSERT_LT(number, bound);
      ++counts[number];
    }
    EXPECT_LT(std::abs(deviation_from_uniform(counts)), 5) << "below " << bound;
  }
}

// Without rejection of the surplus, every third value would come twice as often as the others: four
// numbers fall on three places.
TEST(random_below, is_not_biased_for_a_huge_bound) {
  random_generator random(1);
  constexpr std::uint64_t bound = 3ULL << 62;
  std::vector<std::uint64_t> remainders(3);
  for (int n = 0; n < 300'000; ++n) ++remainders[random.below(bound) % 3];
  EXPECT_LT(std::abs(deviation_from_uniform(remainders)), 5);
}

TEST(random_below, one_is_always_zero) {
  random_generator random(1);
  for (int n = 0; n < 100; ++n) EXPECT_EQ(random.below(1), 0U);
}

TEST(random_below, zero_is_a_broken_invariant) {
  random_generator random(1);
  EXPECT_DEATH((void)random.below(0), "a random number below zero does not exist");
}

TEST(random_split, gives_the_numbers_that_come_next_and_skips_two_to_the_64th) {
  random_generator random(1);
  random_generator given_away = random.split();
  EXPECT_EQ(given_away.next(), 0x08260b0f1b52fcacU);
  // Computed by another program: the matrix of one step, squared 64 times.
  EXPECT_EQ(random.next(), 0x76fe6a21538f48deU);
  EXPECT_EQ(random.next(), 0x37bee1f297def68eU);
  EXPECT_EQ(random.next(), 0xaf4f1f79a7443337U);
}

TEST(random_split, gives_every_worker_other_numbers) {
  random_generator random(1);
  std::set<std::uint64_t> numbers;
  for (int worker = 0; worker < 64; ++worker) {
    random_generator own = random.split();
    for (int n = 0; n < 1000; ++n) numbers.insert(own.next());
  }
  EXPECT_EQ(numbers.size(), 64'000U);
}

TEST(random_generator, serves_the_standard_library) {
  random_generator random(1);
  random_generator same(1);
  EXPECT_EQ(random(), same.next());
  std::vector<int> cards{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int> shuffled = cards;
  std::ranges::shuffle(shuffled, random);
  EXPECT_NE(shuffled, cards);
  EXPECT_TRUE(std::ranges::is_permutation(shuffled, cards));
}

}  // namespace
