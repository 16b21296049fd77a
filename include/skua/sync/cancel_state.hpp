// skua/sync/cancel_state.hpp: what the sources and tokens of one cancellation share.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/short_lock.hpp"
#include "skua/sync/wait_line.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace skua::inline SKUA_ABI {

struct cancel_watch;

/// A node in a tree: who is cancelled, all beneath it are. For cancel_source and cancel_token,
/// which count references; each child has one to its parent.
///
/// The root's lock covers the links and flags of the whole tree. A child takes itself out in O(1);
/// a cancellation visits those beneath it once.
class [[gnu::visibility("default")]] cancel_state : public list_link<> {
public:
  /// With one reference, the caller's. `parent` may be null. Throws std::bad_alloc.
  [[nodiscard]] static cancel_state* make(cancel_state* parent);

  void add_reference() noexcept {
    // order: none; whoever adds one has one.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept;

  [[nodiscard]] bool is_cancelled() const noexcept {
    // order: [cancel.flag] acquire: what the canceller did before.
    return cancelled_.load(std::memory_order_acquire);
  }
  /// By who has a reference. True for the first.
  bool cancel() noexcept;

  /// Those who wait for it.
  [[nodiscard]] wait_line& line() noexcept { return waiting_; }

  /// Tells a std::stop_source, too; made at the first call. Throws std::bad_alloc.
  [[nodiscard]] cancel_watch& watch();

private:
  explicit cancel_state(cancel_state* parent) noexcept
      : parent_(parent), root_(parent == nullptr ? *this : parent->root_) {}
  ~cancel_state();
  [[nodiscard]] bool try_add_reference() noexcept;

  std::atomic<std::uint32_t> references_{1};
  std::atomic<bool> cancelled_{false};  // set under the lock
  cancel_state* const parent_;
  cancel_state& root_;
  short_lock lock_;  // the root's covers all that follows, in every node
  intrusive_list<cancel_state> children_;
  cancel_watch* watch_ = nullptr;
  cancel_state* next_ = nullptr;  // on a list of cancel()'s
  wait_line waiting_;             // has its own lock, which is taken last
};

/// A counted pointer to a cancel_state, perhaps null.
class cancel_reference {
public:
  cancel_reference() = default;
  /// Takes over a reference.
  explicit cancel_reference(cancel_state* to) noexcept : to_(to) {}
  cancel_reference(const cancel_reference& from) noexcept : to_(from.to_) {
    if (to_ != nullptr) to_->add_reference();
  }
  cancel_reference(cancel_reference&& from) noexcept : to_(std::exchange(from.to_, nullptr)) {}
  cancel_reference& operator=(cancel_reference from) noexcept {
    std::swap(to_, from.to_);
    return *this;
  }
  ~cancel_reference() {
    if (to_ != nullptr) to_->release();
  }

  [[nodiscard]] cancel_state* get() const noexcept { return to_; }

private:
  cancel_state* to_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
