// skua/runtime/dispatcher.hpp: what chooses the worker of a task, and a holder of any such thing.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/placement.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `choose(of)` gives the number of a worker below of.workers(). Any thread may call it, several at
/// once, at every spawn: it is short, does not block and spawns nothing. If it throws, or gives a
/// number that no worker has, the spawn throws (the same, or std::out_of_range), and nothing was
/// started.
///
/// Each runtime has a copy of its own, made when it starts.
template <typename Strategy>
concept dispatcher =
    std::copy_constructible<Strategy> && requires(Strategy& strategy, const placement& of) {
      { strategy.choose(of) } -> std::convertible_to<std::size_t>;
    };

/// Holds a dispatcher of any type, or none. A copy has a copy of it.
class any_dispatcher {
public:
  any_dispatcher() noexcept = default;

  /// Moves a dispatcher in; allocates.
  template <typename Strategy>
    requires(!std::is_same_v<std::remove_cvref_t<Strategy>, any_dispatcher>)
  // NOLINTNEXTLINE(google-explicit-constructor): config().dispatcher = dispatch::round_robin();
  any_dispatcher(Strategy strategy) : held_(new holder<Strategy>(std::move(strategy))) {
    static_assert(dispatcher<Strategy>,
                  "a dispatcher can be copied, and its choose(const skua::placement&) gives the "
                  "number of a worker");
  }

  /// Copies the dispatcher; throws what that throws.
  any_dispatcher(const any_dispatcher& from)
      : held_(from.held_ != nullptr ? from.held_->copy() : nullptr) {}
  /// `from` holds none then.
  any_dispatcher(any_dispatcher&& from) noexcept : held_(std::exchange(from.held_, nullptr)) {}
  /// What it held is destroyed.
  any_dispatcher& operator=(any_dispatcher from) noexcept {
    std::swap(held_, from.held_);
    return *this;
  }
  ~any_dispatcher() { delete held_; }

  /// It holds one.
  explicit operator bool() const noexcept { return held_ != nullptr; }

  /// If it holds one.
  [[nodiscard]] std::size_t choose(const placement& of) { return held_->choose(of); }

private:
  struct base {
    base() = default;
    base(const base&) = default;
    base& operator=(const base&) = delete;
    virtual ~base() = default;
    [[nodiscard]] virtual base* copy() const = 0;
    [[nodiscard]] virtual std::size_t choose(const placement& of) = 0;
  };
  template <typename Strategy>
  struct holder final : base {
    explicit holder(Strategy one) : strategy(std::move(one)) {}
    [[nodiscard]] base* copy() const override { return new holder(*this); }
    [[nodiscard]] std::size_t choose(const placement& of) override { return strategy.choose(of); }
    Strategy strategy;
  };

  base* held_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
