// skua/sync/spsc_wait.hpp: one end of a spsc channel waits for the other.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/atomics.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/sync/spsc_end.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

/// The other end, as who waits for it sees it. Who is woken looks for itself when it goes on, and
/// nobody else can have taken anything: so there is nothing to give back if it is unwound instead.
class [[gnu::visibility("default")]] spsc_wait : public leaf {
protected:
  /// `who` is where the other end finds the one that waits.
  spsc_wait(spsc_end<std_atomics>& other, leaf*& who) noexcept : other_(other), who_(who) {}
  ~spsc_wait() = default;

  /// In await_suspend(): until the other end is beyond `count`.
  void wait_at(frame_handle self, std::uint64_t count) noexcept;

private:
  void start() noexcept final;
  cancel_answer cancel() noexcept final;
  [[nodiscard]] bool gives_back() const noexcept final { return true; }

  spsc_end<std_atomics>& other_;
  leaf*& who_;
  std::uint64_t count_ = 0;
};

}  // namespace skua::inline SKUA_ABI
