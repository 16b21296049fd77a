// tests/support/driven_uring.hpp: a small ring, driven by the thread of the test.
#pragma once

#include "driver/uring/uring_driver.hpp"
#include "skua/base/clock.hpp"
#include "support/driver_tools.hpp"
#include "support/pipes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace skua_test {

inline constexpr std::int64_t millisecond = 1'000'000;
inline constexpr skua::ring_size small = {.submissions = 8, .completions = 16};

/// With a driver whose owner is the thread of the test.
class driven_uring : public testing::Test {
protected:
  explicit driven_uring(skua::ring_use by = skua::ring_use::any_thread, bool takes_over = true) {
    auto made = skua::uring_driver::make(small, clock, pool, by);
    if (made) driver = std::move(*made);
    if (driver != nullptr && takes_over) driver->take_over();
  }
  void SetUp() override { ASSERT_NE(driver, nullptr) << "there is no io_uring here"; }

  void submit_with_timeout(noted_operation& op, std::int64_t length) {
    op.expiry().deadline = clock.now() + length;
    driver->submit(op);
  }
  void await(const noted_operation& op) {
    park_until(*driver, [&] { return op.ended(); });
    settle();
    EXPECT_EQ(op.ends(), 1);
  }
  /// Whatever is still on its way comes in.
  void settle() {
    for (int i = 0; i < 3; ++i) driver->poll();
  }
  /// The ring is full, of requests that come before whatever else there is.
  void fill_with_requests_to_cancel(std::deque<noted_operation>& all,
                                    const skua::op_request& what) {
    for (std::uint32_t i = 0; i < small.submissions; ++i) driver->submit(all.emplace_back(what));
    for (noted_operation& one : all) EXPECT_FALSE(driver->cancel(one)) << "it is in the ring";
  }
  /// So that the kernel watches the waker.
  void sleep_once() {
    noted_timer soon(clock, clock.now() + millisecond);
    driver->add(soon);
    park_until(*driver, [&] { return soon.fired() > 0; });
  }

  const skua::monotonic_clock clock;
  skua_test::fake_pool pool;
  std::unique_ptr<skua::uring_driver> driver;
};

/// Once with a ring for any thread, and once with one for the thread that takes it over: that of
/// the test, or another, `parked`.
class every_uring : public driven_uring, public testing::WithParamInterface<skua::ring_use> {
protected:
  explicit every_uring(bool takes_over = true) : driven_uring(GetParam(), takes_over) {}
};
inline auto every_ring_use() {
  return testing::Values(skua::ring_use::any_thread, skua::ring_use::one_thread);
}
inline std::string name_of_use(const testing::TestParamInfo<skua::ring_use>& info) {
  return info.param == skua::ring_use::any_thread ? "any_thread" : "one_thread";
}

}  // namespace skua_test
