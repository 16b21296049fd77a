// tests/support/driven.hpp: a task under a test's control: started, stopped and looked at by hand.
#pragma once

#include "skua/coro/context.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"

#include <utility>

namespace skua_test {

/// Queues the task on `home` when made. Keeps its outcome when it has ended.
template <typename T>
class driven final : public skua::context {
public:
  driven(skua::executor& home, skua::task<T> root) : context(run_until_parked, home) {
    hold(skua::to_frame(root.release()));
    schedule();
  }

  /// Only the thread that runs the executor may ask.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] skua::outcome<T>& result() noexcept { return result_; }

private:
  static void run_until_parked(skua::work& item) noexcept {
    auto& self = static_cast<driven&>(item);
    const skua::progress how = self.drive();
    if (how == skua::progress::parked) return;
    if (how == skua::progress::returned) {
      const auto root = skua::task<T>::handle::from_address(self.release_root().address());
      self.result_ = std::move(root.promise().result());
      root.destroy();
    }
    self.ended_ = true;
  }

  skua::outcome<T> result_;
  bool ended_ = false;
};

}  // namespace skua_test
