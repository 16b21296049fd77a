// src/runtime/cgroup_cpu_limit.cpp: find the group's directory, read the limits from there upwards.
#include "runtime/cgroup_cpu_limit.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace skua::inline SKUA_ABI {
namespace {

struct closes {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};

/// The whole file; empty if it cannot be read.
std::string text_of(const std::string& path) {
  std::string text;
  const std::unique_ptr<std::FILE, closes> file(std::fopen(path.c_str(), "re"));
  if (file == nullptr) return text;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get()))
    text.append(block, got);
  if (std::ferror(file.get()) != 0) text.clear();
  return text;
}

/// Cuts `text` after the first `end` and returns what came before it; all of it if there is none.
std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view first = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return first;
}

bool lists(std::string_view names, std::string_view wanted) {
  while (!names.empty()) {
    if (cut(names, ',') == wanted) return true;
  }
  return false;
}

/// A hierarchy of groups as the kernel mounts it. On a machine with both versions the CPU limits
/// are in one of them, but it costs nothing to look into both.
struct hierarchy {
  std::string_view file_system;
  std::string_view usual_place;  // where it is mounted if nobody tells us
  bool named_by_controller;      // version 1 has one hierarchy for each set of controllers

  [[nodiscard]] bool is_listed_as(std::string_view number, std::string_view controllers) const {
    return named_by_controller ? lists(controllers, "cpu") : number == "0" && controllers.empty();
  }
};
constexpr hierarchy version_1{"cgroup", "/sys/fs/cgroup/cpu", true};
constexpr hierarchy version_2{"cgroup2", "/sys/fs/cgroup", false};

/// The group of the process, from lines such as "4:cpu,cpuacct:/a/b" or "0::/a/b".
std::optional<std::string_view> group_in(const hierarchy& which, std::string_view lines) {
  while (!lines.empty()) {
    std::string_view line = cut(lines, '\n');
    const std::string_view number = cut(line, ':');
    const std::string_view controllers = cut(line, ':');
    if (line.starts_with('/') && which.is_listed_as(number, controllers)) return line;
  }
  return std::nullopt;
}

/// mountinfo writes spaces and the like as a backslash and three octal digits.
std::string unescaped(std::string_view word) {
  std::string plain;
  while (!word.empty()) {
    unsigned code = 0;
    const bool escape = word.size() >= 4 && word[0] == '\\' &&
                        std::from_chars(&word[1], &word[1] + 3, code, 8).ptr == &word[1] + 3;
    plain += escape ? static_cast<char>(code) : word[0];
    word.remove_prefix(escape ? 4 : 1);
  }
  return plain;
}

struct mount {
  std::string top;    // the group that is seen at `place`
  std::string place;  // a directory
};

/// One line: number, parent, device, top, place, options, any number of optional fields, "-", type,
/// source, options of the file system.
std::optional<mount> mount_of(const hierarchy& which, std::string_view line) {
  for (int skipped = 0; skipped < 3; ++skipped) cut(line, ' ');
  const std::string_view top = cut(line, ' ');
  const std::string_view place = cut(line, ' ');
  while (!line.empty() && cut(line, ' ') != "-") {
  }
  if (cut(line, ' ') != which.file_system) return std::nullopt;
  cut(line, ' ');
  if (which.named_by_controller && !lists(line, "cpu")) return std::nullopt;
  return mount{.top = unescaped(top), .place = unescaped(place)};
}

/// What is left of `group` below `top`: empty for `top` itself. Nothing if it is not below it, or
/// if the process is outside its own namespace of groups and sees "/..".
std::optional<std::string_view> below(std::string_view top, std::string_view group) {
  if ((std::string(group) + '/').find("/../") != std::string::npos) return std::nullopt;
  if (top == "/") top = {};
  if (group == "/") group = {};
  if (!group.starts_with(top)) return std::nullopt;
  group.remove_prefix(top.size());
  if (!group.empty() && group[0] != '/') return std::nullopt;
  return group;
}

/// Where the group's files are: in `place` + `group` and, for the groups around it, each directory
/// above, as far as `place`.
struct location {
  std::string place;
  std::string group;
};

/// The first mount that shows the group. If none does, as in a container that sees another's name
/// for its own group, the top of the first mount is the nearest that can be seen.
location locate(const hierarchy& which, std::string_view group, std::string_view mounts) {
  std::optional<location> nearest;
  while (!mounts.empty()) {
    const std::optional<mount> one = mount_of(which, cut(mounts, '\n'));
    if (!one) continue;
    if (const auto rest = below(one->top, group)) return {one->place, std::string(*rest)};
    if (!nearest) nearest = location{one->place, ""};
  }
  if (nearest) return *nearest;
  return {std::string(which.usual_place), std::string(below("/", group).value_or(""))};
}

std::optional<double> positive(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.begin(), word.end(), number);
  if (error != std::errc{} || end != word.end() || number <= 0) return std::nullopt;
  return static_cast<double>(number);
}

std::optional<double> quotient(std::string_view quota, std::string_view period) {
  const auto time = positive(quota);
  const auto of = positive(period);
  if (!time || !of) return std::nullopt;
  return *time / *of;
}

/// Empty if there are more.
std::string_view only_line(std::string_view text) {
  const std::string_view first = cut(text, '\n');
  return text.empty() ? first : std::string_view{};
}

/// Version 1 has two files; a quota of -1 is none. Version 2 has one; "max 100000" is none.
std::optional<double> limit_in(const hierarchy& which, const std::string& directory) {
  if (which.named_by_controller) {
    return quotient(only_line(text_of(directory + "/cpu.cfs_quota_us")),
                    only_line(text_of(directory + "/cpu.cfs_period_us")));
  }
  const std::string both = text_of(directory + "/cpu.max");
  std::string_view period = only_line(both);
  const std::string_view quota = cut(period, ' ');
  return quotient(quota, period);
}

void lower(std::optional<double>& to, std::optional<double> limit) {
  if (limit) to = std::min(*limit, to.value_or(*limit));
}

std::optional<double> smallest_limit(const hierarchy& which, const std::string& root) {
  const std::string groups = text_of(root + "/proc/self/cgroup");
  const auto group = group_in(which, groups);
  if (!group) return std::nullopt;
  location at = locate(which, *group, text_of(root + "/proc/self/mountinfo"));
  std::optional<double> smallest;
  for (;;) {
    lower(smallest, limit_in(which, root + at.place + at.group));
    if (at.group.empty()) return smallest;
    at.group.resize(at.group.rfind('/'));
  }
}

}  // namespace

std::optional<double> cgroup_cpu_limit(std::string_view root) noexcept {
  try {
    const std::string before(root);
    std::optional<double> smallest = smallest_limit(version_2, before);
    lower(smallest, smallest_limit(version_1, before));
    return smallest;
  } catch (...) {  // out of memory: a thread too many does less harm than no runtime
    return std::nullopt;
  }
}

}  // namespace skua::inline SKUA_ABI
