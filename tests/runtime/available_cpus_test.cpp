// tests/runtime/available_cpus_test.cpp: CPUs of the mask, as far as the groups grant time.
#include "runtime/available_cpus.hpp"

#include "runtime/cgroup_cpu_limit.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <optional>
#include <thread>

namespace {

using skua::available_cpus;
using skua::cpus_in_affinity_mask;
using skua::usable_cpus;

TEST(usable_cpus, are_those_in_the_mask_if_nothing_limits_them) {
  EXPECT_EQ(usable_cpus(8, std::nullopt), 8U);
  EXPECT_EQ(usable_cpus(8, 8.0), 8U);
  EXPECT_EQ(usable_cpus(8, 64.0), 8U);
  EXPECT_EQ(usable_cpus(8, 9223372036854775807.0), 8U);
}

TEST(usable_cpus, are_the_limit_rounded_up) {
  EXPECT_EQ(usable_cpus(8, 0.01), 1U);
  EXPECT_EQ(usable_cpus(8, 0.5), 1U);
  EXPECT_EQ(usable_cpus(8, 1.0), 1U);
  EXPECT_EQ(usable_cpus(8, 1.5), 2U);
  EXPECT_EQ(usable_cpus(8, 3.0), 3U);
  EXPECT_EQ(usable_cpus(8, 7.01), 8U);
}

TEST(usable_cpus, are_at_least_one) {
  EXPECT_EQ(usable_cpus(0, std::nullopt), 1U);
  EXPECT_EQ(usable_cpus(8, 0.0), 1U);
}

TEST(cpus_in_affinity_mask, are_those_the_thread_may_run_on) {
  const std::size_t all = cpus_in_affinity_mask(::sched_getaffinity);
  ASSERT_GE(all, 1U);
  std::thread([] {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    int one = 0;
    while (!CPU_ISSET(one, &mask)) ++one;
    CPU_ZERO(&mask);
    CPU_SET(one, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(cpus_in_affinity_mask(::sched_getaffinity), 1U);
    EXPECT_EQ(available_cpus(), 1U);
  }).join();
  EXPECT_EQ(cpus_in_affinity_mask(::sched_getaffinity), all) << "the mask is the thread's own";
}

/// As the kernel of a machine with 5,000 CPUs, of which it gives us 3,000.
int on_a_large_machine(pid_t, std::size_t bytes, cpu_set_t* mask) {
  if (bytes * 8 < 5000) return errno = EINVAL, -1;
  for (std::size_t cpu = 2000; cpu < 5000; ++cpu) CPU_SET_S(cpu, bytes, mask);
  return 0;
}

TEST(cpus_in_affinity_mask, may_be_more_than_cpu_set_t_holds) {
  EXPECT_EQ(cpus_in_affinity_mask(on_a_large_machine), 3000U);
}

TEST(cpus_in_affinity_mask, are_none_if_the_kernel_refuses) {
  EXPECT_EQ(cpus_in_affinity_mask([](pid_t, std::size_t, cpu_set_t*) { return -1; }), 0U);
}

TEST(available_cpus, are_those_of_the_mask_within_the_limit) {
  EXPECT_EQ(available_cpus(),
            usable_cpus(cpus_in_affinity_mask(::sched_getaffinity), skua::cgroup_cpu_limit()));
}

}  // namespace
