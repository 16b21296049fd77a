// skua/base/atomics.hpp: the atomics policy of shipped code; tests put an explorer in its place.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>

namespace skua::inline SKUA_ABI {

/// Lock-free types take their atomics from a policy with these members. Production code is always
/// instantiated with this one; the interleaving explorer brings its own, and so runs what we ship.
struct std_atomics {
  template <typename T>
  using atomic = std::atomic<T>;

  /// A variable that several threads use, one at a time, ordered by atomics around it.
  template <typename T>
  class plain {
  public:
    [[nodiscard]] T read() const noexcept { return value_; }
    void write(T value) noexcept { value_ = value; }

  private:
    T value_{};
  };
};

}  // namespace skua::inline SKUA_ABI
