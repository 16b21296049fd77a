// skua/sync/shared_value.hpp: a value that several may look at, and that nobody changes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What watch and broadcast give: a hold on the value itself, not a copy of it. It stays as it is
/// for as long as it is held, whatever is sent meanwhile, and ends with its last hold. Copies are
/// holds on the same value. May be empty, and then is false. Any thread; one at a time each.
template <typename T>
class shared_value {
public:
  shared_value() = default;
  /// Another hold on the same value.
  shared_value(const shared_value& from) noexcept : held_(from.held_) {
    // order: none; who copies a hold has one.
    if (held_ != nullptr) held_->holds.fetch_add(1, std::memory_order_relaxed);
  }
  /// `from` is empty then.
  shared_value(shared_value&& from) noexcept : held_(std::exchange(from.held_, nullptr)) {}
  /// The hold that it was is gone; the value, too, if it was the last.
  shared_value& operator=(shared_value from) noexcept {
    std::swap(held_, from.held_);
    return *this;
  }
  ~shared_value() {
    if (held_ == nullptr) return;
    // order: [shared_value.end] acq_rel: all looks at it, to the one who destroys it.
    if (held_->holds.fetch_sub(1, std::memory_order_acq_rel) == 1) delete held_;
  }

  /// Throws std::bad_alloc, and what the constructor throws.
  template <typename... Args>
  [[nodiscard]] static shared_value make(Args&&... args) {
    return shared_value(*new node(std::forward<Args>(args)...));
  }

  /// There is a value.
  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// The value. Only if there is one; otherwise the program ends, and says so.
  [[nodiscard]] const T& operator*() const noexcept {
    check(held_ != nullptr, "a shared value is looked at if there is one");
    return held_->value;
  }
  /// A part of the value. Only if there is one, likewise.
  [[nodiscard]] const T* operator->() const noexcept { return &**this; }

private:
  struct node {
    template <typename... Args>
    explicit node(Args&&... args) : value(std::forward<Args>(args)...) {}
    std::atomic<std::size_t> holds = 1;
    const T value;
  };
  explicit shared_value(node& which) noexcept : held_(&which) {}

  node* held_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
