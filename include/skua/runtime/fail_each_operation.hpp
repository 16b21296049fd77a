// skua/runtime/fail_each_operation.hpp: a program with each of its operations failing in turn.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/fault_plan.hpp"
#include "skua/runtime/config.hpp"
#include "skua/runtime/runtime.hpp"

#include <cstdint>
#include <stdexcept>
#include <system_error>

namespace skua::inline SKUA_ABI {

/// Calls `scenario(rt)` with a new runtime again and again: in the first its first operation fails
/// with `error`, in the second its second, and so on, until a runtime has ended before its fault
/// came. What the scenario makes of its failures is its own affair; what it must not do is hang,
/// crash or leave something behind, and its caller finds that out (with sanitizers, by counting
/// descriptors). Gives the number of operations that failed. For tests.
///
/// Throws std::runtime_error if no runtime starts, or if there is no end after `limit` runs.
template <typename Scenario>
std::uint64_t fail_each_operation(config settings, std::errc error, Scenario&& scenario,
                                  std::uint64_t limit = 100'000) {
  for (std::uint64_t number = 1; number <= limit; ++number) {
    fault_plan plan;
    plan.fail(number, error);
    settings.faults = &plan;
    {
      auto rt = runtime::start(settings);
      if (!rt) throw std::runtime_error("skua::fail_each_operation: no runtime starts");
      scenario(*rt);
    }
    if (plan.happened() == 0) return number - 1;
  }
  throw std::runtime_error("skua::fail_each_operation: there is no end to the operations");
}

}  // namespace skua::inline SKUA_ABI
