// bench/peers/common/random_reads.hpp: a file to read from, and the places where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace peers {

constexpr std::size_t block_size = 4'096;
constexpr std::uint64_t blocks = 16'384;  // 64 MiB: they stay in the kernel's cache

/// A file in a directory whose blocks begin with their number. Removed by its destructor.
class numbered_blocks {
public:
  explicit numbered_blocks(const std::string& directory);
  ~numbered_blocks();
  numbered_blocks(const numbered_blocks&) = delete;
  numbered_blocks& operator=(const numbered_blocks&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

/// The same places in the same order for everybody who begins with the same number.
class block_sequence {
public:
  explicit block_sequence(std::uint64_t seed) : state_(seed * 2'654'435'761U + 1) {}
  [[nodiscard]] std::uint64_t next() {
    state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    return (state_ >> 33U) % blocks;
  }

private:
  std::uint64_t state_;
};

/// The number that such a block begins with.
[[nodiscard]] std::uint64_t number_in(const std::byte* block);

}  // namespace peers
