// tests/support/op_cases.hpp: every operation, with what it waits for and what it leaves behind.
#pragma once

#include "skua/skua.hpp"

#include <memory>
#include <string>
#include <vector>

namespace skua_test {

/// One operation on things of its own. The order: run() is awaited, provoke() lets it end, and then
/// the one of the last two that fits.
class op_case {
public:
  op_case() = default;
  op_case(const op_case&) = delete;
  op_case& operator=(const op_case&) = delete;
  virtual ~op_case() = default;

  /// Awaits the operation. True if it succeeded.
  virtual skua::task<bool> run() = 0;
  /// Makes it succeed, if it waits.
  virtual void provoke() {}
  /// It was stopped: nothing was moved, and nothing moves any more, also after provoke().
  virtual void expect_untouched() {}
  /// It has succeeded.
  virtual void expect_done() {}
};

struct op_kind {
  const char* name;
  bool waits;        // until provoke(); the others end by themselves
  bool always_ends;  // cannot be stopped once begun, so that provoke() has to come
  std::unique_ptr<op_case> (*make)();
};

/// Whether an operation that blocks a thread of the pool is interrupted depends on the driver.
[[nodiscard]] std::vector<op_kind> all_operations(bool on_epoll);

}  // namespace skua_test
