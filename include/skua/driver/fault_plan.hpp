// skua/driver/fault_plan.hpp: makes chosen operations of a runtime go wrong, for tests.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace skua::inline SKUA_ABI {

struct fault_plan_rule;

/// Give it to a runtime as config::faults; it outlives that runtime. Operations are counted from 1,
/// in the order in which the runtime's tasks begin them. Functions are for any thread.
///
///   fault_plan plan;
///   plan.fail(3, std::errc::io_error);           // the third operation
///   settings.faults = &plan;
///
/// fail_each_operation() runs a program with each of its operations failing in turn.
class [[gnu::visibility("default")]] fault_plan {
public:
  fault_plan();
  fault_plan(const fault_plan&) = delete;
  fault_plan& operator=(const fault_plan&) = delete;
  ~fault_plan();

  /// It ends with `error`; the kernel never hears of it, unless it is a close(): as in life, that
  /// closes all the same.
  void fail(std::uint64_t number, std::errc error);

  /// It moves at most so many bytes, if it is one that may move fewer than asked for.
  void shorten(std::uint64_t number, std::size_t bytes);

  /// It ends later than it could, by so much.
  template <duration_like Duration>
  void delay(std::uint64_t number, Duration length) {
    delay_by(number, to_nanoseconds(length));
  }

  /// So many others, that do nothing, end at the same time: more than config::ring_completions, and
  /// the kernel's queue of completions overflows.
  void crowd(std::uint64_t number, std::size_t others);

  /// Operations begun so far.
  [[nodiscard]] std::uint64_t begun() const noexcept;
  /// Faults that came about.
  [[nodiscard]] std::uint64_t happened() const noexcept;

private:
  friend class fault_driver;
  struct state;

  void delay_by(std::uint64_t number, std::int64_t nanoseconds);
  void add(std::uint64_t number, const fault_plan_rule& what);
  /// For the next operation; what is to happen to it, if anything.
  [[nodiscard]] fault_plan_rule take_next() noexcept;

  state* const state_;
};

}  // namespace skua::inline SKUA_ABI
