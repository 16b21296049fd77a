// src/driver/fault_rule.hpp: what is to happen to one operation.
#pragma once

#include "skua/driver/fault_plan.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

struct fault_plan_rule {
  enum what : std::uint8_t { nothing, fails, shortened, late, crowded };
  what kind = nothing;
  int error = 0;
  std::size_t count = 0;  // bytes, or bystanders
  std::int64_t nanoseconds = 0;
};

}  // namespace skua::inline SKUA_ABI
