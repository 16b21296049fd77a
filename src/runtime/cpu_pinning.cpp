// src/runtime/cpu_pinning.cpp: read the kernel's lists, compare, and set masks.
#include "runtime/cpu_pinning.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>

namespace skua::inline SKUA_ABI {
namespace {

// Linux can be built for 8,192 CPUs, and for as many nodes at most.
constexpr std::uint32_t most_cpus = 65'536;

struct closes_list {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
struct frees_mask {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using cpu_mask = std::unique_ptr<cpu_set_t, frees_mask>;

/// The first line; empty if there is none.
std::string first_line_of(const std::string& path) {
  const std::unique_ptr<std::FILE, closes_list> file(std::fopen(path.c_str(), "re"));
  std::string text;
  if (file == nullptr) return text;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get()))
    text.append(block, got);
  return text.substr(0, text.find('\n'));
}

bool is_in(const cpu_list& all, std::uint32_t one) {
  return std::ranges::binary_search(all, one);
}

cpu_list in_both(const cpu_list& one, const cpu_list& other) {
  cpu_list both;
  std::ranges::set_intersection(one, other, std::back_inserter(both));
  return both;
}

cpu_list allowed_cpus() {
  cpu_list all;
  for (std::uint32_t cpus = 1'024; cpus <= most_cpus; cpus *= 2) {
    const cpu_mask set(CPU_ALLOC(cpus));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (std::uint32_t i = 0; i < cpus; ++i)
      if (CPU_ISSET_S(i, bytes, set.get())) all.push_back(i);
    break;
  }
  return all;
}

/// "0-3, 8"
std::string ranges_of(const cpu_list& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t last = i;
    while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(all[i]);
    if (last > i) text += "-" + std::to_string(all[last]);
    i = last + 1;
  }
  return text;
}

using cpu_choice = std::expected<std::vector<cpu_list>, std::string>;

cpu_choice listed_cpus(const pinning& wanted, const cpu_map& machine) {
  std::vector<cpu_list> chosen;
  for (const std::uint32_t cpu : wanted.is_listed() ? wanted.list() : machine.allowed) {
    const std::string subject = "config::pinning names CPU " + std::to_string(cpu);
    if (!is_in(machine.present, cpu))
      return std::unexpected(subject + ", which does not exist; there are " +
                             ranges_of(machine.present));
    if (!is_in(machine.allowed, cpu))
      return std::unexpected(subject + ", which this process may not use; it may use " +
                             ranges_of(machine.allowed));
    chosen.push_back({cpu});
  }
  return chosen;
}

const cpu_map::node* find_node(const cpu_map& machine, std::uint32_t number) {
  const auto found = std::ranges::find(machine.nodes, number, &cpu_map::node::number);
  return found != machine.nodes.end() ? &*found : nullptr;
}

cpu_list numbers_of(const std::vector<cpu_map::node>& nodes) {
  cpu_list numbers;
  for (const cpu_map::node& one : nodes) numbers.push_back(one.number);
  return numbers;
}

cpu_choice listed_nodes(const pinning& wanted, const cpu_map& machine) {
  std::vector<cpu_list> chosen;
  for (const std::uint32_t number :
       wanted.is_listed() ? wanted.list() : numbers_of(machine.nodes)) {
    const std::string subject = "config::pinning names NUMA node " + std::to_string(number);
    const cpu_map::node* const node = find_node(machine, number);
    if (node == nullptr)
      return std::unexpected(subject + ", which does not exist; there are " +
                             ranges_of(numbers_of(machine.nodes)));
    cpu_list usable = in_both(node->cpus, machine.allowed);
    if (usable.empty() && wanted.is_listed())
      return std::unexpected(subject + ", of which this process may use no CPU; it may use " +
                             ranges_of(machine.allowed));
    if (!usable.empty()) chosen.push_back(std::move(usable));
  }
  return chosen;
}

}  // namespace

cpu_list parse_cpu_list(std::string_view text) {
  cpu_list all;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint32_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) break;
    std::uint32_t last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || last < first || last >= most_cpus) break;
    for (std::uint32_t i = first; i <= last; ++i) all.push_back(i);
    if (read.ptr == end || *read.ptr != ',') break;
    at = read.ptr + 1;
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

cpu_map cpu_map::read(const std::string& devices) {
  cpu_map machine;
  machine.allowed = allowed_cpus();
  machine.present = parse_cpu_list(first_line_of(devices + "/cpu/present"));
  if (machine.present.empty()) machine.present = machine.allowed;  // no sysfs
  for (const std::uint32_t number : parse_cpu_list(first_line_of(devices + "/node/online")))
    machine.nodes.push_back({.number = number,
                             .cpus = parse_cpu_list(first_line_of(
                                 devices + "/node/node" + std::to_string(number) + "/cpulist"))});
  if (machine.nodes.empty()) machine.nodes.push_back({.number = 0, .cpus = machine.present});
  return machine;
}

std::expected<std::vector<cpu_list>, std::string> cpus_of_workers(const pinning& wanted,
                                                                  std::size_t workers,
                                                                  const cpu_map& machine) {
  if (wanted.what() == pinning::unit::nothing) return {};
  cpu_choice chosen = wanted.what() == pinning::unit::cpus ? listed_cpus(wanted, machine)
                                                           : listed_nodes(wanted, machine);
  if (!chosen) return chosen;
  if (chosen->empty()) return std::unexpected("config::pinning names no CPU, and no node");
  const std::size_t listed = chosen->size();
  chosen->resize(workers);
  for (std::size_t i = listed; i < workers; ++i) (*chosen)[i] = (*chosen)[i % listed];
  return chosen;
}

int pin_thread(pthread_t which, const cpu_list& to) noexcept {
  const std::uint32_t count = to.back() + 1;
  const cpu_mask set(CPU_ALLOC(count));
  if (set == nullptr) return ENOMEM;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set.get());
  for (const std::uint32_t cpu : to) CPU_SET_S(cpu, bytes, set.get());
  return ::pthread_setaffinity_np(which, bytes, set.get());
}

}  // namespace skua::inline SKUA_ABI
