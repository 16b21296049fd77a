// skua/runtime/child_set.hpp: spawned tasks that somebody has to wait for, and may have to stop.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/short_lock.hpp"
#include "skua/coro/context.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

/// Counts children and can ask them all to stop. Whoever has one waits, under the same lock, for
/// what it likes: the end of all, or of one.
class [[gnu::visibility("default")]] child_set {
public:
  /// One child; part of its outermost frame, so that all of them are gone when this is.
  class member : public list_link<> {
  private:
    friend class child_set;
    task_cell* cell_ = nullptr;  // under the lock
  };

  child_set() = default;
  child_set(const child_set&) = delete;
  child_set& operator=(const child_set&) = delete;
  ~child_set();

  /// For all that its owner shares with the children, too.
  [[nodiscard]] short_lock& lock() noexcept { return lock_; }

  // Under the lock.

  /// One more, which is about to be spawned.
  void add() noexcept { ++running_; }
  /// It could not be spawned.
  void take_back() noexcept { --running_; }
  /// One less: begun or not, it has ended.
  void remove(member& one) noexcept;
  [[nodiscard]] std::size_t running() const noexcept { return running_; }

  // Not under the lock.

  /// By a child that was added, as the first thing it does. False: all are being stopped, and so is
  /// this one now.
  [[nodiscard]] bool begin(member& one, context& self) noexcept;

  /// Asks all children to stop, those to come included. The caller keeps the set alive meanwhile.
  void stop() noexcept;

private:
  short_lock lock_;
  bool stopping_ = false;  // all below under the lock
  std::size_t running_ = 0;
  intrusive_list<member> live_;  // have begun
  intrusive_list<member> told_;  // and were asked to stop
};

}  // namespace skua::inline SKUA_ABI
