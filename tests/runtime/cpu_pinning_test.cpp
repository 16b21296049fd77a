// tests/runtime/cpu_pinning_test.cpp: lists of CPUs, errors that name the culprit, and real masks.
#include "runtime/cpu_pinning.hpp"

#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace {

using skua::cpu_list;
using skua::cpu_map;
using skua::pinning;

TEST(cpu_pinning, reads_lists_as_the_kernel_writes_them) {
  EXPECT_EQ(skua::parse_cpu_list("0-3,8,10-11\n"), (cpu_list{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(skua::parse_cpu_list("5"), (cpu_list{5}));
  EXPECT_EQ(skua::parse_cpu_list("7,1-2,2"), (cpu_list{1, 2, 7}));
  for (const char* nothing : {"", "\n", "x", "-1", "3-1", "4-99999999999"})
    EXPECT_TRUE(skua::parse_cpu_list(nothing).empty()) << nothing;
}

/// Two nodes, of which we may use one and a half.
cpu_map two_nodes() {
  return {.present = {0, 1, 2, 3, 4, 5, 6, 7},
          .allowed = {0, 1, 2, 3, 5, 6},
          .nodes = {{.number = 0, .cpus = {0, 1, 2, 3}},
                    {.number = 1, .cpus = {4, 5, 6}},
                    {.number = 4, .cpus = {7}}}};
}

using chosen = std::vector<cpu_list>;

TEST(cpu_pinning, gives_each_worker_a_cpu_and_begins_anew_when_there_are_no_more) {
  const auto listed = skua::cpus_of_workers(pinning::to_cpus({3, 0}), 3, two_nodes());
  EXPECT_EQ(listed.value(), (chosen{{3}, {0}, {3}}));
  const auto all = skua::cpus_of_workers(pinning::to_each_cpu(), 7, two_nodes());
  EXPECT_EQ(all.value(), (chosen{{0}, {1}, {2}, {3}, {5}, {6}, {0}}));
  EXPECT_TRUE(skua::cpus_of_workers(pinning(), 7, two_nodes())->empty());
}

TEST(cpu_pinning, gives_each_worker_what_it_may_use_of_a_node) {
  const auto all = skua::cpus_of_workers(pinning::to_each_node(), 3, two_nodes());
  EXPECT_EQ(all.value(), (chosen{{0, 1, 2, 3}, {5, 6}, {0, 1, 2, 3}}));
  const auto one = skua::cpus_of_workers(pinning::to_nodes({1}), 1, two_nodes());
  EXPECT_EQ(one.value(), (chosen{{5, 6}}));
}

TEST(cpu_pinning, says_what_is_wrong) {
  const auto error_of = [](const pinning& wanted) {
    return skua::cpus_of_workers(wanted, 2, two_nodes()).error();
  };
  EXPECT_EQ(error_of(pinning::to_cpus({0, 12})),
            "config::pinning names CPU 12, which does not exist; there are 0-7");
  EXPECT_EQ(error_of(pinning::to_cpus({4})),
            "config::pinning names CPU 4, which this process may not use; it may use 0-3, 5-6");
  EXPECT_EQ(error_of(pinning::to_nodes({2})),
            "config::pinning names NUMA node 2, which does not exist; there are 0-1, 4");
  EXPECT_EQ(error_of(pinning::to_nodes({4})),
            "config::pinning names NUMA node 4, of which this process may use no CPU; it may use "
            "0-3, 5-6");
  EXPECT_EQ(error_of(pinning::to_cpus({})), "config::pinning names no CPU, and no node");
}

void write(const std::filesystem::path& to, const std::string& text) {
  std::filesystem::create_directories(to.parent_path());
  std::ofstream(to) << text;
}

TEST(cpu_pinning, reads_the_machine_from_sysfs) {
  const skua_test::temp_directory devices;
  const std::filesystem::path at = devices.path();
  write(at / "cpu/present", "0-5\n");
  write(at / "node/online", "0,2\n");
  write(at / "node/node0/cpulist", "0-2\n");
  write(at / "node/node2/cpulist", "3-5\n");
  const cpu_map machine = cpu_map::read(at.string());
  EXPECT_EQ(machine.present, (cpu_list{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_EQ(machine.nodes[1].number, 2U);
  EXPECT_EQ(machine.nodes[1].cpus, (cpu_list{3, 4, 5}));
  EXPECT_FALSE(machine.allowed.empty());

  const cpu_map bare = cpu_map::read((at / "nothing here").string());
  EXPECT_EQ(bare.present, bare.allowed);
  ASSERT_EQ(bare.nodes.size(), 1U) << "a kernel without NUMA";
  EXPECT_EQ(bare.nodes[0].cpus, bare.present);
}

/// Where the calling thread may run.
cpu_list mask() {
  return cpu_map::read("/sys/devices/system").allowed;
}

class pinned_workers : public skua_test::for_each_kind {};

TEST_P(pinned_workers, run_where_they_are_told) {
  const cpu_list usable = mask();
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.pinning = pinning::to_each_cpu();
  auto rt = skua_test::started(settings);
  for (std::size_t i = 0; i < rt.workers(); ++i)
    EXPECT_EQ(skua::sync_wait(rt.spawn_on(i, [] { return mask(); })),
              (cpu_list{usable[i % usable.size()]}));
  EXPECT_EQ(mask(), usable) << "the caller's own stays";

  settings.pinning = pinning::to_each_node();
  auto by_node = skua_test::started(settings);
  const cpu_list there = skua::sync_wait(by_node.spawn_on(0, [] { return mask(); }));
  EXPECT_TRUE(std::ranges::includes(usable, there));
  EXPECT_FALSE(there.empty());
}

TEST_P(pinned_workers, that_cannot_be_do_not_start) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.pinning = pinning::to_cpus({60'000});
  const auto refused = skua::runtime::start(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), std::errc::invalid_argument);
  EXPECT_EQ(refused.error().message().find("config::pinning names CPU 60000, which does not exist"),
            0U)
      << refused.error().message();
  settings.pinning = pinning::to_nodes({60'000});
  EXPECT_FALSE(skua::runtime::start(settings).has_value());
}

INSTANTIATE_TEST_SUITE_P(threads, pinned_workers, skua_test::kinds_with_threads(),
                         skua_test::name_of_kind);

TEST(cpu_pinning, of_a_cpu_that_was_taken_from_the_process_is_refused) {
  const cpu_list usable = mask();
  if (usable.size() < 2) GTEST_SKIP() << "there is one CPU only";
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(usable[0], &first);
  ASSERT_EQ(::sched_setaffinity(0, sizeof first, &first), 0);
  skua::config settings;
  settings.flavour = skua::flavour::thread_per_core;
  settings.workers = 1;
  settings.pinning = pinning::to_cpus({usable[1]});
  const auto refused = skua::runtime::start(settings);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("which this process may not use"),
            std::string_view::npos)
      << refused.error().message();
}

TEST(cpu_pinning, of_the_callers_thread_is_refused) {
  skua::config settings;
  settings.flavour = skua::flavour::current_thread;
  settings.pinning = pinning::to_each_cpu();
  const auto refused = skua::runtime::start(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(),
            "config::pinning is set, but a current_thread runtime runs on the caller's thread");
}

TEST(cpu_pinning, that_the_kernel_refuses_is_an_errno) {
  EXPECT_NE(skua::pin_thread(::pthread_self(), {60'000}), 0);
}

}  // namespace
