// skua/runtime/placement.hpp: what a dispatcher may look at before it chooses a worker.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// A task that is about to be spawned, and the workers that it may go to. Valid during the call of
/// the dispatcher that it is passed to.
class placement {
public:
  /// For here(): nobody.
  static constexpr std::size_t nowhere = ~std::size_t{0};

  /// How many tasks live on a worker.
  using load_function = std::size_t (*)(const void* of, std::size_t worker) noexcept;

  /// `of` is passed on to `load`. Dispatchers can be tested with this, without a runtime.
  placement(std::size_t workers, std::size_t here, const void* of, load_function load) noexcept
      : workers_(workers), here_(here), of_(of), load_(load) {}
  /// For those who spawn by a key.
  placement& with_key(std::uint64_t key) noexcept {
    key_ = key;
    has_key_ = true;
    return *this;
  }

  /// At least 1. They have the numbers below this.
  [[nodiscard]] std::size_t workers() const noexcept { return workers_; }

  /// How many tasks live on `worker`, whether they run, wait or are queued. Others spawn and end
  /// meanwhile.
  [[nodiscard]] std::size_t tasks(std::size_t worker) const noexcept { return load_(of_, worker); }

  /// The worker of the task that spawns this one; `nowhere` if no task of the runtime does.
  [[nodiscard]] std::size_t here() const noexcept { return here_; }

  /// What spawn_by() was called with, as a number that is well mixed.
  [[nodiscard]] bool has_key() const noexcept { return has_key_; }
  /// Only if has_key().
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }

private:
  std::size_t workers_;
  std::size_t here_;
  const void* of_;
  load_function load_;
  std::uint64_t key_ = 0;
  bool has_key_ = false;
};

}  // namespace skua::inline SKUA_ABI
