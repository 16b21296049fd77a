// tests/runtime/cgroup_cpu_limit_test.cpp: the smallest limit around us counts, oddities do not.
#include "runtime/cgroup_cpu_limit.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace {

namespace fs = std::filesystem;
using skua::cgroup_cpu_limit;
constexpr std::nullopt_t none = std::nullopt;

/// A directory with the files that a test puts into it, in place of the machine's.
class machine {
public:
  machine() {
    char name[] = "/tmp/skua_cgroup_XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine() { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }
  void groups(const std::string& lines) const { put("/proc/self/cgroup", lines); }
  void mounts(const std::string& lines) const { put("/proc/self/mountinfo", lines); }
  void remove(const std::string& path) const { fs::remove_all(root_ + path); }
  void version_1_limit(const std::string& group, const std::string& quota,
                       const std::string& period) const {
    put(group + "/cpu.cfs_quota_us", quota + "\n");
    put(group + "/cpu.cfs_period_us", period + "\n");
  }
  [[nodiscard]] std::optional<double> limit() const { return cgroup_cpu_limit(root_); }
  [[nodiscard]] const std::string& root() const { return root_; }

private:
  std::string root_;
};

/// One hierarchy, of version 2, where most machines have it.
struct version_2 : machine {
  explicit version_2(const std::string& group = "/a/b") {
    groups("0::" + group + "\n");
    mounts(
        "22 27 0:21 / /proc rw - proc proc rw\n"
        "26 23 0:23 / /sys/fs/cgroup rw,nosuid shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n"
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n");
  }
};

/// As systemd laid out version 1.
struct version_1 : machine {
  explicit version_1(const std::string& group = "/a/b") {
    groups("9:cpuset:/other\n4:cpu,cpuacct:" + group + "\n1:name=systemd:/a\n0::/c\n");
    mounts(
        "30 25 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:10 - cgroup cgroup "
        "rw,cpu,cpuacct\n"
        "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  }
};
const std::string cpu_of_version_1 = "/sys/fs/cgroup/cpu,cpuacct";

TEST(cgroup_cpu_limit, is_the_quota_in_periods) {
  const version_2 tree;
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(tree.limit(), 1.5);
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "5000 10000\n");
  EXPECT_EQ(tree.limit(), 0.5);
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(tree.limit(), 3.0);
}

TEST(cgroup_cpu_limit, is_none_where_the_quota_is_max_or_there_is_no_file) {
  const version_2 tree;
  EXPECT_EQ(tree.limit(), none);
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(tree.limit(), none);
}

TEST(cgroup_cpu_limit, is_the_smallest_from_the_own_group_to_the_top) {
  const version_2 tree("/a/b/c");
  tree.put("/sys/fs/cgroup/a/b/c/cpu.max", "700000 100000\n");
  EXPECT_EQ(tree.limit(), 7.0);
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(tree.limit(), 7.0);
  tree.put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(tree.limit(), 2.0);
  tree.put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(tree.limit(), 2.0);
  tree.put("/sys/fs/cgroup/cpu.max", "100000 100000\n");  // in a namespace the top has one
  EXPECT_EQ(tree.limit(), 1.0);
}

TEST(cgroup_cpu_limit, is_not_that_of_another_group) {
  const version_2 tree;
  tree.put("/sys/fs/cgroup/a/bc/cpu.max", "100000 100000\n");
  tree.put("/sys/fs/cgroup/b/cpu.max", "100000 100000\n");
  tree.put("/sys/fs/cgroup/a/b/below/cpu.max", "100000 100000\n");
  tree.put("/sys/cpu.max", "100000 100000\n");
  EXPECT_EQ(tree.limit(), none);
}

TEST(cgroup_cpu_limit, of_the_top_group_is_found) {
  const version_2 tree("/");
  tree.put("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(tree.limit(), 2.5);
}

TEST(cgroup_cpu_limit, is_none_if_the_file_is_odd) {
  const version_2 tree("/a");
  for (const std::string odd : {"",
                                "\n",
                                "100000",
                                "100000\n",
                                "max",
                                "max\n",
                                "-1 100000\n",
                                "0 100000\n",
                                "100000 0\n",
                                "100000 -100000\n",
                                "100000 max\n",
                                "1e5 100000\n",
                                "100000.0 100000\n",
                                "0x10 16\n",
                                "100000 100000 100000\n",
                                "100000  100000\n",
                                "100000 100000\n100000 100000\n",
                                " 1 1\n",
                                "+1 1\n",
                                "99999999999999999999 100000\n",
                                "1 99999999999999999999\n",
                                "quota period\n"}) {
    tree.put("/sys/fs/cgroup/a/cpu.max", odd);
    EXPECT_EQ(tree.limit(), none) << '"' << odd << '"';
  }
  tree.put("/sys/fs/cgroup/a/cpu.max", std::string("1\0 1\n", 5));
  EXPECT_EQ(tree.limit(), none) << "a zero byte";
  tree.put("/sys/fs/cgroup/a/cpu.max", std::string(3'000'000, '7'));
  EXPECT_EQ(tree.limit(), none) << "megabytes";
  tree.remove("/sys/fs/cgroup/a/cpu.max");
  fs::create_directories(tree.root() + "/sys/fs/cgroup/a/cpu.max");
  EXPECT_EQ(tree.limit(), none) << "a directory";
}

TEST(cgroup_cpu_limit, of_a_group_around_counts_even_if_the_own_file_is_odd) {
  const version_2 tree;
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "garbage\n");
  tree.put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(tree.limit(), 2.0);
}

TEST(cgroup_cpu_limit, may_be_huge) {
  const version_2 tree("/a");
  tree.put("/sys/fs/cgroup/a/cpu.max", "9223372036854775807 1\n");
  EXPECT_EQ(tree.limit(), 9223372036854775807.0);
}

TEST(cgroup_cpu_limit, is_none_without_any_file) {
  EXPECT_EQ(cgroup_cpu_limit("/tmp/skua_no_such_directory"), none);
  const machine empty;
  EXPECT_EQ(empty.limit(), none);
}

TEST(cgroup_cpu_limit, is_none_if_the_list_of_groups_is_odd) {
  const version_2 tree("/a");
  tree.put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  tree.put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(tree.limit(), 1.0);
  for (const std::string odd : {"", "\n\n", "0", "0:", "0::", "0:/a", "::/a", "0::a", "1::/a",
                                "0:memory:/a", "00::/a", ":::::", "garbage"}) {
    tree.groups(odd);
    EXPECT_EQ(tree.limit(), none) << '"' << odd << '"';
  }
}

TEST(cgroup_cpu_limit, is_looked_for_at_the_usual_place_if_no_mount_is_known) {
  const version_2 tree;
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
  for (const std::string odd :
       {"", "garbage", "26 23", "26 23 0:23 / /x rw -", "- cgroup2 x y\n"}) {
    tree.mounts(odd);
    EXPECT_EQ(tree.limit(), 2.0) << '"' << odd << '"';
  }
  tree.remove("/proc/self/mountinfo");
  EXPECT_EQ(tree.limit(), 2.0);
  tree.groups("4:cpu,cpuacct:/a\n");
  tree.version_1_limit("/sys/fs/cgroup/cpu/a", "100000", "50000");
  EXPECT_EQ(tree.limit(), 2.0);
}

TEST(cgroup_cpu_limit, is_found_wherever_the_groups_are_mounted) {
  const version_2 tree("/a b");
  tree.mounts("26 23 0:23 / /run/my\\040groups\\134x rw - cgroup2 none rw\n");
  tree.put("/run/my groups\\x/a b/cpu.max", "200000 100000\n");
  tree.put("/sys/fs/cgroup/a b/cpu.max", "100000 100000\n");
  EXPECT_EQ(tree.limit(), 2.0);
}

TEST(cgroup_cpu_limit, is_found_below_a_group_that_is_mounted_alone) {
  const version_2 tree("/docker/12/x");
  tree.mounts(
      "26 23 0:23 /docker/1 /else rw - cgroup2 cgroup rw\n"
      "27 23 0:23 /docker/123 /else rw - cgroup2 cgroup rw\n"
      "28 23 0:23 /docker/12 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  tree.put("/else/cpu.max", "100000 100000\n");
  tree.put("/sys/fs/cgroup/x/cpu.max", "400000 100000\n");
  EXPECT_EQ(tree.limit(), 4.0);
  tree.put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(tree.limit(), 3.0);
}

TEST(cgroup_cpu_limit, is_that_of_the_mount_s_top_if_the_own_group_cannot_be_seen) {
  struct seen {
    std::string group;
    std::string top;
  };
  for (const seen& one : {seen{"/kube/pod1", "/docker/1"}, seen{"/../sibling", "/docker/1"},
                          seen{"/../sibling", "/"}, seen{"/..", "/"}, seen{"/a", "/.."}}) {
    const version_2 tree(one.group);
    tree.mounts("26 23 0:23 " + one.top + " /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    tree.put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    tree.put("/sys/fs/cgroup/kube/pod1/cpu.max", "100000 100000\n");
    tree.put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    tree.put("/sys/fs/cpu.max", "100000 100000\n");
    tree.put("/sys/fs/sibling/cpu.max", "100000 100000\n");
    EXPECT_EQ(tree.limit(), 3.0) << one.group << " at " << one.top;
  }
}

TEST(cgroup_cpu_limit, of_version_1_is_found_in_two_files) {
  const version_1 tree;
  EXPECT_EQ(tree.limit(), none);
  tree.version_1_limit(cpu_of_version_1 + "/a/b", "150000", "100000");
  EXPECT_EQ(tree.limit(), 1.5);
  tree.version_1_limit(cpu_of_version_1 + "/a", "25000", "50000");
  EXPECT_EQ(tree.limit(), 0.5);
  tree.version_1_limit(cpu_of_version_1 + "/a", "-1", "50000");
  EXPECT_EQ(tree.limit(), 1.5);
}

TEST(cgroup_cpu_limit, of_version_1_is_none_if_a_file_is_odd) {
  const version_1 tree("/a");
  for (const std::string odd : {"", "0", "-1", "max", "1\n2", "99999999999999999999", "1 1"}) {
    tree.version_1_limit(cpu_of_version_1 + "/a", odd, "100000");
    EXPECT_EQ(tree.limit(), none) << '"' << odd << '"';
    tree.version_1_limit(cpu_of_version_1 + "/a", "100000", odd);
    EXPECT_EQ(tree.limit(), none) << '"' << odd << '"';
  }
}

TEST(cgroup_cpu_limit, of_version_1_is_that_of_the_cpu_controller) {
  const version_1 tree;
  tree.version_1_limit("/sys/fs/cgroup/cpuset/other", "100000", "100000");
  tree.version_1_limit("/sys/fs/cgroup/cpuset/a/b", "100000", "100000");
  tree.version_1_limit("/sys/fs/cgroup/cpuset", "100000", "100000");
  EXPECT_EQ(tree.limit(), none);
}

TEST(cgroup_cpu_limit, is_the_smaller_of_both_versions) {
  const version_1 tree;
  tree.version_1_limit(cpu_of_version_1 + "/a", "300000", "100000");
  tree.put("/sys/fs/cgroup/unified/c/cpu.max", "200000 100000\n");
  EXPECT_EQ(tree.limit(), 2.0);
  tree.put("/sys/fs/cgroup/unified/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(tree.limit(), 3.0);
}

TEST(cgroup_cpu_limit, of_this_machine_is_none_or_more_than_nothing) {
  EXPECT_GT(cgroup_cpu_limit().value_or(1), 0.0);
}

}  // namespace
