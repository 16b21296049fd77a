// tests/support/countdown.hpp: picks the k-th of a series of calls, from any thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace skua_test {

/// Initialised before any code runs and never destroyed, so that it may stand behind functions of
/// the C and C++ library, which are called early and late. Allocates nothing.
class countdown {
public:
  constexpr countdown() = default;

  /// `kth` is counted from 1; 0 picks none.
  void start(std::size_t kth) noexcept { left_ = kth; }

  /// Counts one call; true for the k-th.
  [[nodiscard]] bool hit() noexcept {
    std::size_t left = left_;
    while (left != 0 && !left_.compare_exchange_weak(left, left - 1)) {
    }
    return left == 1;
  }

  [[nodiscard]] bool running() const noexcept { return left_ != 0; }

private:
  std::atomic<std::size_t> left_ = 0;
};

}  // namespace skua_test
