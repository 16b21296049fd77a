// skua/fiber/options.hpp: what a fiber gets: how large a stack, from where, and its name.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace skua::inline SKUA_ABI::fiber {

class stack_pool;

/// A small value, copied freely. Where it was made is where its fiber is said to come from, unless
/// at() says otherwise.
class options {
public:
  /// 16 KiB: less is refused.
  static constexpr std::size_t least_stack = std::size_t{16} * 1024;
  static constexpr std::size_t default_stack = std::size_t{128} * 1024;              ///< 128 KiB
  static constexpr std::size_t largest_stack = std::size_t{1} * 1024 * 1024 * 1024;  ///< 1 GiB
  static constexpr std::size_t name_max = 23;  ///< bytes of a name that are kept

  // Not explicit: fiber::spawn({}, fn) is fine.
  /// A default stack of the process's pool, without a name.
  options(std::source_location where = std::source_location::current()) noexcept : where_(where) {}

  /// Bytes that the fiber may use, rounded up to whole pages; only pages that are touched take
  /// memory. From least_stack to largest_stack: anything else is a mistake that ends the program.
  /// A process with a sanitizer in it gives four times as much: its frames are larger.
  options& stack_size(std::size_t bytes) noexcept {
    check(bytes >= least_stack, "a fiber's stack has at least 16 KiB (options::least_stack)");
    check(bytes <= largest_stack, "a fiber's stack has at most 1 GiB (options::largest_stack)");
    stack_size_ = bytes;
    return *this;
  }

  /// For dumps, and for what is said if its stack overflows. The first 23 bytes are copied.
  options& name(std::string_view text) noexcept {
    name_length_ = static_cast<std::uint8_t>(text.copy(name_.data(), name_max));
    return *this;
  }

  /// Where the stack comes from; outlives the fiber. Default: stack_pool::of_process().
  options& pool(stack_pool& from) noexcept {
    pool_ = &from;
    return *this;
  }

  /// Where the fiber is said to come from, in dumps and in logs.
  options& at(std::source_location where) noexcept {
    where_ = where;
    return *this;
  }

  /// What was set, before it is rounded; default_stack otherwise.
  [[nodiscard]] std::size_t stack_size() const noexcept { return stack_size_; }
  /// What was kept of it; empty if none was set.
  [[nodiscard]] std::string_view name() const noexcept { return {name_.data(), name_length_}; }
  /// Null: the process's.
  [[nodiscard]] stack_pool* pool() const noexcept { return pool_; }
  /// Where it was made, or what at() said.
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

private:
  std::size_t stack_size_ = default_stack;
  stack_pool* pool_ = nullptr;
  std::source_location where_;
  std::array<char, name_max> name_{};
  std::uint8_t name_length_ = 0;
};

}  // namespace skua::inline SKUA_ABI::fiber
