// bench/peers/common/random_reads.cpp: a file to read from, and the places where.
#include "common/random_reads.hpp"

#include "common/protocol.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace peers {

numbered_blocks::numbered_blocks(const std::string& directory)
    : path_(directory + "/blocks." + std::to_string(::getpid())) {
  std::FILE* const file = std::fopen(path_.c_str(), "wb");
  must_be(file != nullptr ? 1 : 0, 1);
  std::array<std::byte, block_size> block{};
  for (std::uint64_t i = 0; i < blocks; ++i) {
    std::memcpy(block.data(), &i, sizeof(i));
    must_be(std::fwrite(block.data(), block.size(), 1, file), 1);
  }
  must_be(static_cast<std::uint64_t>(std::fclose(file)), 0);
}

numbered_blocks::~numbered_blocks() {
  ::unlink(path_.c_str());
}

std::uint64_t number_in(const std::byte* block) {
  std::uint64_t number = 0;
  std::memcpy(&number, block, sizeof(number));
  return number;
}

}  // namespace peers
