// src/runtime/available_cpus.cpp: the affinity mask, in a set that grows until it fits.
#include "runtime/available_cpus.hpp"

#include "runtime/cgroup_cpu_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace skua::inline SKUA_ABI {
namespace {

// Linux can be built for 8,192 CPUs. Far more than that is a failure that a larger set won't cure.
constexpr std::size_t first_set = 1024;
constexpr std::size_t largest_set = std::size_t{1} << 20;

struct frees {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

std::size_t online_cpus() noexcept {
  return static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

std::size_t cpus_in_affinity_mask(affinity_query ask) noexcept {
  // Whatever the failure, a larger set is tried: the kernel has no other for an honest question.
  for (std::size_t cpus = first_set; cpus <= largest_set; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, frees> set(CPU_ALLOC(cpus));
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set.get());
    if (ask(0, bytes, set.get()) == 0) {
      return static_cast<std::size_t>(CPU_COUNT_S(bytes, set.get()));
    }
  }
  return 0;
}

std::size_t usable_cpus(std::size_t in_mask, std::optional<double> limit) noexcept {
  if (limit && *limit < static_cast<double>(in_mask)) {
    in_mask = static_cast<std::size_t>(std::ceil(*limit));
  }
  return std::max<std::size_t>(1, in_mask);
}

std::size_t available_cpus() noexcept {
  const std::size_t in_mask = cpus_in_affinity_mask(::sched_getaffinity);
  return usable_cpus(in_mask == 0 ? online_cpus() : in_mask, cgroup_cpu_limit());
}

}  // namespace skua::inline SKUA_ABI
