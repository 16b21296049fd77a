// skua/coro/outcome.hpp: how a task ended: with a value, with an exception, or stopped.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Rethrows `thrown`, or throws task_cancelled if it is null.
[[noreturn, gnu::visibility("default")]] void throw_missing_value(std::exception_ptr thrown);

/// One of three ends. A new outcome is stopped: that is what is true of a task that left nothing.
/// T may be an object type, a reference or void.
template <typename T>
class [[nodiscard]] outcome {
  static_assert(!std::is_rvalue_reference_v<T>, "a task gives a T, a T& or nothing, not a T&&");
  static constexpr bool is_void = std::is_void_v<T>;
  static constexpr bool is_reference = std::is_lvalue_reference_v<T>;
  struct nothing {};
  using stored = std::conditional_t<
      is_void, nothing,
      std::conditional_t<is_reference, std::remove_reference_t<T>*, std::remove_cv_t<T>>>;

public:
  /// What the task gives.
  using value_type = T;

  outcome() noexcept : ended_(end::stopped) {}
  /// `from` keeps its kind of end; its value was moved from.
  outcome(outcome&& from) noexcept(std::is_nothrow_move_constructible_v<stored>) { take(from); }
  /// What it held is destroyed. If moving the value throws, it is `stopped`.
  outcome& operator=(outcome&& from) noexcept(std::is_nothrow_move_constructible_v<stored>) {
    if (this != &from) {
      reset();
      take(from);
    }
    return *this;
  }
  ~outcome() { clear(); }

  /// It ended with a value.
  [[nodiscard]] bool has_value() const noexcept { return ended_ == end::value; }
  /// It ended by an exception.
  [[nodiscard]] bool has_exception() const noexcept { return ended_ == end::exception; }
  /// It was stopped, or has no end yet.
  [[nodiscard]] bool stopped() const noexcept { return ended_ == end::stopped; }
  /// It has a value.
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; rethrows the exception; throws task_cancelled if stopped.
  T value() && {
    if (ended_ != end::value) [[unlikely]]
      throw_missing_value(exception());
    if constexpr (is_reference)
      return *value_;
    else if constexpr (!is_void)
      return std::move(value_);
  }

  /// The value in place. Only if has_value().
  std::add_lvalue_reference_t<T> operator*() & noexcept
    requires(!is_void)
  {
    check(has_value(), "an outcome is dereferenced only if it has a value");
    if constexpr (is_reference)
      return *value_;
    else
      return value_;
  }

  /// Only if it has a value; anything else ends the program, and says so.
  std::add_lvalue_reference_t<const T> operator*() const& noexcept
    requires(!is_void)
  {
    return *const_cast<outcome&>(*this);
  }
  /// A part of the value. Only if it has one, likewise.
  auto* operator->() noexcept
    requires(!is_void)
  {
    return std::addressof(**this);
  }
  /// A part of the value. Only if it has one, likewise.
  auto* operator->() const noexcept
    requires(!is_void)
  {
    return std::addressof(**this);
  }

  /// Null unless has_exception().
  [[nodiscard]] std::exception_ptr exception() const noexcept {
    return ended_ == end::exception ? exception_ : nullptr;
  }

  /// Replaces a value, but not an exception: that is final.
  template <typename... Args>
  void set_value(Args&&... args) {
    if constexpr (!std::is_trivially_destructible_v<stored>) {
      if (ended_ == end::value) reset();
    }
    if constexpr (is_reference)
      value_ = std::addressof(args...);
    else
      ::new (static_cast<void*>(std::addressof(value_))) stored(std::forward<Args>(args)...);
    ended_ = end::value;
  }

  /// The end is this exception now.
  void set_exception(std::exception_ptr thrown) noexcept {
    reset();
    ::new (static_cast<void*>(&exception_)) std::exception_ptr(std::move(thrown));
    ended_ = end::exception;
  }

private:
  enum class end : unsigned char { stopped, value, exception };

  void clear() noexcept {
    if (ended_ == end::value) {
      value_.~stored();
    } else if (ended_ == end::exception) {
      exception_.~exception_ptr();
    }
  }
  void reset() noexcept {
    clear();
    ended_ = end::stopped;
  }
  void take(outcome& from) {
    ended_ = end::stopped;
    if (from.ended_ == end::value) {
      ::new (static_cast<void*>(std::addressof(value_))) stored(std::move(from.value_));
    } else if (from.ended_ == end::exception) {
      ::new (static_cast<void*>(&exception_)) std::exception_ptr(std::move(from.exception_));
    }
    ended_ = from.ended_;
  }

  union {
    stored value_;
    std::exception_ptr exception_;
  };
  end ended_;
};

}  // namespace skua::inline SKUA_ABI
