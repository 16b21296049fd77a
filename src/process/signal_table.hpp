// src/process/signal_table.hpp: who is to be told of which signals, as the handler sees it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A set of signals; bit n - 1 stands for signal n.
using signal_bits = std::uint64_t;
[[nodiscard]] constexpr signal_bits bit_of(int signal) noexcept {
  return signal_bits{1} << (signal - 1);
}

/// One who listens. What the handler does with it is async-signal-safe: some atomics and a write.
class signal_listener {
public:
  /// What becomes of the next signal of the set, after one has been told.
  enum class at_next : bool {
    is_told,  ///< the same
    ends,     ///< it has its default action: as a rule, it ends the process
  };

  signal_listener(unique_fd event, signal_bits which, at_next then) noexcept
      : event_(std::move(event)), which_(which), then_(then) {}
  signal_listener(const signal_listener&) = delete;
  signal_listener& operator=(const signal_listener&) = delete;

  /// A non-blocking eventfd: readable when something has come. By its owner.
  [[nodiscard]] const io::descriptor& event() const noexcept { return event_; }
  /// One of those that have come, the one with the lowest number; 0 if none has. By its owner.
  [[nodiscard]] int take() noexcept;

private:
  friend class signal_table;
  void tell(int signal) noexcept;  // in the handler

  const io::descriptor event_;
  const signal_bits which_;
  const at_next then_;
  std::atomic<signal_bits> came_ = 0;
  std::atomic<signal_listener*> next_ = nullptr;
  signal_listener* next_retired_ = nullptr;  // under the lock
};

/// The handlers of the process, and those who listen.
///
/// This is state of the whole process, the only kind there is for signals: the kernel has one
/// handler for each, which is called without an argument of ours, on any thread. So there is one
/// table, made before main() and never destroyed, and all runtimes listen at it.
///
/// A handler, once installed, stays: to take it back would be to guess whether another has built
/// upon it meanwhile. One that was there before is called when ours is done, as if it were not
/// there.
class signal_table {
public:
  constexpr signal_table() noexcept = default;
  signal_table(const signal_table&) = delete;
  signal_table& operator=(const signal_table&) = delete;

  [[nodiscard]] static signal_table& of_process() noexcept;

  /// From now on it is told, until remove(). 0, or an errno: EINVAL for a signal that cannot be
  /// handled, or that tells of a fault of the thread it comes to; remove() it then, too. From any
  /// thread.
  [[nodiscard]] int add(signal_listener& who) noexcept;
  /// No longer. Destroyed (it was made by new) when no handler can still be at it: now, as a rule,
  /// or in the next call that finds no handler running. Nobody waits for a handler. In a forked
  /// child, where nobody is told any more, it is destroyed at once.
  void remove(signal_listener& who) noexcept;

private:
  static constexpr int count = 64;

  static void handle(int signal, siginfo_t* about, void* where);
  void tell_all(int signal) noexcept;
  void pass_on(int signal, siginfo_t* about, void* where) const noexcept;
  [[nodiscard]] const struct sigaction& before(int signal) const noexcept;
  void raise_again(int signal, const struct sigaction& with) const noexcept;

  [[nodiscard]] int install(signal_bits which) noexcept;
  [[nodiscard]] int install_one(int signal) noexcept;
  void begin_anew_if_forked() noexcept;
  void retire(signal_listener& who) noexcept;

  // All the handler looks at. The default order everywhere: this is rare, and crosses threads in
  // more than one way.
  std::atomic<signal_listener*> first_ = nullptr;
  std::atomic<std::uint32_t> handlers_running_ = 0;
  std::atomic<std::int32_t> owner_ = 0;  // the process that the listeners are of
  std::atomic<signal_bits> installed_ = 0;
  std::atomic<signal_bits> end_at_next_ = 0;
  std::atomic<signal_bits> noted_ = 0;
  struct sigaction before_[count] = {};  // of those that are noted; written once, and before that

  std::mutex mutex_;  // of add() and remove()
  signal_listener* retired_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
