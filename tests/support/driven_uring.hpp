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
#include <utility>

namespace skua_test {

inline constexpr std::int64_t millisecond = 1'000'000;
inline constexpr skua::ring_size small = {.submissions = 8, .completions = 16};

/// With a driver whose owner is the thread of the test.
class driven_uring : public testing::Test {
protected:
  explicit driven_uring(skua::ring_size size = small) {
    auto made = skua::uring_driver::make(size, clock, pool);
    if (made) driver = std::move(*made);
  }
  void SetUp() override { ASSERT_NE(driver, nullptr) << "there is no io_uring here"; }

  void submit_with_timeout(noted_operation& op, std::int64_t length) {
    op.expiry.deadline = clock.now() + length;
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

inline void feed(const pipe_pair& pipe) {
  ASSERT_EQ(::write(pipe.in(), "x", 1), 1);
}

}  // namespace skua_test
