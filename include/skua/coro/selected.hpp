// skua/coro/selected.hpp: which of several ended first, and what it gave.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/unit.hpp"

#include <cstddef>
#include <utility>
#include <variant>

namespace skua::inline SKUA_ABI {

/// What `co_await select(...)` gives: the number of the argument, and its value; `unit` for one
/// that gives nothing.
template <typename... Ts>
class selected {
public:
  /// Made by race(), select() and their kin.
  template <std::size_t I, typename Value>
  selected(std::in_place_index_t<I> which, Value&& value)
      : value_(which, std::forward<Value>(value)) {}

  /// Which of the arguments was the first to end, from 0.
  [[nodiscard]] std::size_t index() const noexcept { return value_.index(); }

  /// The first was number I.
  template <std::size_t I>
  [[nodiscard]] bool is() const noexcept {
    return value_.index() == I;
  }

  /// Its value if it was number I, otherwise null.
  template <std::size_t I>
  [[nodiscard]] auto* get() noexcept {
    return std::get_if<I>(&value_);
  }
  /// The same for one that does not change.
  template <std::size_t I>
  [[nodiscard]] const auto* get() const noexcept {
    return std::get_if<I>(&value_);
  }

private:
  std::variant<value_or_unit<Ts>...> value_;
};

/// What `co_await when_any(tasks)` gives.
template <typename T>
class selected_at {
public:
  /// Made by race() of a vector, and its kin.
  selected_at(std::size_t index, value_or_unit<T> value)
      : index_(index), value_(std::move(value)) {}

  /// Which of them was the first to end, from 0.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// What it gave; a `unit` for what gives nothing.
  [[nodiscard]] value_or_unit<T>& value() & noexcept { return value_; }
  /// The same, to be moved from.
  [[nodiscard]] value_or_unit<T>&& value() && noexcept { return std::move(value_); }

private:
  std::size_t index_;
  value_or_unit<T> value_;
};

}  // namespace skua::inline SKUA_ABI
