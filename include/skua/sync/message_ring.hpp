// skua/sync/message_ring.hpp: the places for messages in a channel, filled and emptied in order.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/recycler.hpp"

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What can be sent through a channel. Moves happen under the lock of the channel: they must not
/// throw, should be short, and must not use the same channel.
template <typename T>
struct require_message {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_array_v<T>,
                "a channel carries objects that can be moved");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "the move constructor of a message must not throw: send a std::unique_ptr to it");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "a frame cannot hold an over-aligned message: send a std::unique_ptr to it");
};

/// So many places, in one allocation together with this. Not thread-safe.
template <typename T>
class alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) message_ring : private require_message<T> {
public:
  /// Destroys a ring and what is in it, and those behind it.
  class hold {
  public:
    hold() = default;
    explicit hold(message_ring* which) noexcept : which_(which) {}
    hold(hold&& from) noexcept : which_(std::exchange(from.which_, nullptr)) {}
    hold& operator=(hold&& from) noexcept {
      std::swap(which_, from.which_);
      return *this;
    }
    ~hold() {
      while (which_ != nullptr) free(std::exchange(which_, which_->next));
    }
    [[nodiscard]] message_ring* release() noexcept { return std::exchange(which_, nullptr); }
    explicit operator bool() const noexcept { return which_ != nullptr; }

  private:
    message_ring* which_ = nullptr;
  };

  /// So many places, at the most, has a ring whose memory is used again as that of frames is: who
  /// needs one ring after the other does not go to malloc, which may give it back to the kernel.
  static constexpr std::size_t recycled_places() noexcept {
    constexpr std::size_t slots = (largest_recycled_frame - sizeof(message_ring)) / sizeof(T);
    return slots == 0 ? 0 : slots - 1;
  }

  /// At least one place. Throws std::bad_alloc.
  [[nodiscard]] static hold make(std::size_t places) {
    if (places >= (std::numeric_limits<std::ptrdiff_t>::max() - sizeof(message_ring)) / sizeof(T))
      throw std::bad_array_new_length();
    void* const memory = allocate_frame(bytes(places + 1));
    return hold(::new (memory) message_ring(places + 1));
  }

  message_ring(const message_ring&) = delete;
  message_ring& operator=(const message_ring&) = delete;

  [[nodiscard]] std::size_t places() const noexcept { return slots_ - 1; }
  [[nodiscard]] bool empty() const noexcept { return first_ == next_free_; }
  [[nodiscard]] bool full() const noexcept { return behind(next_free_) == first_; }

  /// Not if it is full.
  void push(T&& message) noexcept {
    const std::size_t at = next_free_;
    next_free_ = behind(at);
    ::new (slot(at)) T(std::move(message));
  }

  /// Gives the oldest to `take`, as an rvalue. Not if it is empty.
  template <typename Take>
  void pop(Take take) noexcept {
    const std::size_t at = first_;
    first_ = behind(at);
    T* const oldest = std::launder(static_cast<T*>(slot(at)));
    // Another thread may have written it.
    __builtin_prefetch(reinterpret_cast<std::byte*>(oldest) + fetch_ahead);
    take(std::move(*oldest));
    oldest->~T();
  }

  /// A newer one, which takes what came after this one was full.
  message_ring* next = nullptr;

private:
  explicit message_ring(std::size_t slots) noexcept : slots_(slots) {}
  ~message_ring() {
    while (!empty()) pop([](T&&) {});
  }
  static void free(message_ring* which) noexcept {
    const std::size_t size = bytes(which->slots_);
    which->~message_ring();
    free_frame(which, size);
  }
  static std::size_t bytes(std::size_t slots) noexcept {
    return sizeof(message_ring) + slots * sizeof(T);
  }

  [[nodiscard]] std::size_t behind(std::size_t at) const noexcept {
    return at + 1 == slots_ ? 0 : at + 1;
  }
  void* slot(std::size_t at) noexcept {
    return reinterpret_cast<std::byte*>(this + 1) + at * sizeof(T);
  }

  static constexpr std::size_t fetch_ahead = 256;  // bytes

  std::size_t slots_;  // one more than places: it stays free, so that full is not empty
  std::size_t first_ = 0;
  std::size_t next_free_ = 0;
};

}  // namespace skua::inline SKUA_ABI
