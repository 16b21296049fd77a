// bench/peers/common/trees.hpp: how large the trees of the fork-join questions are.
#pragma once

#include "common/protocol.hpp"

#include <cstdint>

namespace peers {

/// 30 at scale 1, and each step less is about 0.62 of the work.
[[nodiscard]] unsigned fib_argument(const request& asked);
[[nodiscard]] std::uint64_t fib_of(unsigned n);
/// Calls, and so tasks.
[[nodiscard]] std::uint64_t fib_tasks(unsigned n);

/// 1,000,000 at scale 1, else a smaller power of ten.
[[nodiscard]] std::uint64_t skynet_leaves(const request& asked);
[[nodiscard]] std::uint64_t skynet_tasks(std::uint64_t leaves);

/// 11 at scale 1, 8 at the least.
[[nodiscard]] unsigned queens(const request& asked);
[[nodiscard]] std::uint64_t queens_solutions(unsigned size);

/// Where queens stand so far: a column for each row.
struct board {
  std::uint32_t columns = 0;
  std::uint32_t falling = 0;  // diagonals
  std::uint32_t rising = 0;

  [[nodiscard]] bool is_free(unsigned column) const {
    return ((columns | falling | rising) & (1U << column)) == 0;
  }
  [[nodiscard]] board with(unsigned column) const {
    const std::uint32_t here = 1U << column;
    return {columns | here, (falling | here) << 1U, (rising | here) >> 1U};
  }
};
/// Boards that are reached, the empty one among them: a task each.
[[nodiscard]] std::uint64_t queens_tasks(unsigned size, board so_far = {}, unsigned row = 0);

}  // namespace peers
