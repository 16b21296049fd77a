// src/process/spawn_error.cpp: a step and an errno in one code.
#include "skua/process/spawn_error.hpp"

#include "base/immortal.hpp"
#include "skua/base/check.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace skua::inline SKUA_ABI::process {
namespace {

constexpr int step_shift = 16;
constexpr int errno_mask = (1 << step_shift) - 1;

constexpr std::array step_names = {"arguments", "process",           "streams", "process group",
                                   "identity",  "working directory", "program"};

spawn_step step_in(int value) noexcept {
  return static_cast<spawn_step>(value >> step_shift);
}

class spawn_category final : public std::error_category {
public:
  constexpr spawn_category() noexcept = default;

  [[nodiscard]] const char* name() const noexcept override { return "skua.process"; }
  [[nodiscard]] std::string message(int value) const override {
    const auto at = static_cast<std::size_t>(step_in(value));
    const char* const step = at < step_names.size() ? step_names[at] : "unknown";
    return std::string(step) + ": " + std::generic_category().message(value & errno_mask);
  }
  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    return {value & errno_mask, std::generic_category()};
  }
};

constinit const immortal<spawn_category>
    the_category;  // a code may be looked at until the very end

const std::error_category& category() noexcept {
  return the_category.value;
}

}  // namespace

std::optional<spawn_step> step_of(const std::error_code& error) noexcept {
  if (error.category() != category()) return std::nullopt;
  return step_in(error.value());
}

std::error_code spawn_error(spawn_step at, int number) noexcept {
  check(number > 0 && number <= errno_mask, "an errno value is positive");
  return {static_cast<int>(at) << step_shift | number, category()};
}

}  // namespace skua::inline SKUA_ABI::process
