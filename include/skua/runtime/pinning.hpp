// skua/runtime/pinning.hpp: which CPUs the threads of workers may run on.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

/// `config().pinning = pinning::to_each_cpu()`. Worker i gets the i-th of the list, and the list
/// begins anew when it is used up. A CPU or node that does not exist, or that this process may not
/// use, is an error at start that names it. Pins workers; threads of the blocking pool run
/// anywhere.
class pinning {
public:
  /// What a worker is bound to.
  enum class unit : unsigned char {
    nothing,  ///< the kernel decides
    cpus,     ///< one CPU
    nodes     ///< all CPUs of one NUMA node
  };

  /// To nothing: the kernel moves threads as it likes.
  pinning() noexcept = default;

  /// Each worker to one CPU of those that the process may use, in their order.
  [[nodiscard]] static pinning to_each_cpu() { return {unit::cpus, {}}; }
  /// Worker i to which[i]: numbers as in /sys/devices/system/cpu.
  [[nodiscard]] static pinning to_cpus(std::vector<std::uint32_t> which) {
    return {unit::cpus, std::move(which), true};
  }
  /// Each worker to all CPUs of one NUMA node, of those of which the process may use any.
  [[nodiscard]] static pinning to_each_node() { return {unit::nodes, {}}; }
  /// Worker i to the CPUs of node which[i]: numbers as in /sys/devices/system/node.
  [[nodiscard]] static pinning to_nodes(std::vector<std::uint32_t> which) {
    return {unit::nodes, std::move(which), true};
  }

  /// What workers are bound to.
  [[nodiscard]] unit what() const noexcept { return what_; }
  /// False: all there are.
  [[nodiscard]] bool is_listed() const noexcept { return listed_; }
  /// Numbers of CPUs or of nodes, one for each worker.
  [[nodiscard]] const std::vector<std::uint32_t>& list() const noexcept { return list_; }

private:
  pinning(unit what, std::vector<std::uint32_t> list, bool listed = false) noexcept
      : what_(what), listed_(listed), list_(std::move(list)) {}

  unit what_ = unit::nothing;
  bool listed_ = false;
  std::vector<std::uint32_t> list_;
};

}  // namespace skua::inline SKUA_ABI
