// tools/skua/machine.cpp: what a machine offers to a runtime.
#include "machine.hpp"

#include "text.hpp"

#include <skua/runtime/runtime.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <expected>
#include <fstream>
#include <system_error>

namespace skua_tool {
namespace {

constexpr std::uint64_t few_files = 4'096;
constexpr std::uint64_t little_memory = std::uint64_t{1} << 20;

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "unknown";
}

resource_limit limit_of(__rlimit_resource which) {
  rlimit seen{};
  if (::getrlimit(which, &seen) != 0) return {};
  resource_limit found;
  if (seen.rlim_cur != RLIM_INFINITY) found.soft = seen.rlim_cur;
  if (seen.rlim_max != RLIM_INFINITY) found.hard = seen.rlim_max;
  return found;
}

std::size_t cpus_by_affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return 0;
  return static_cast<std::size_t>(CPU_COUNT(&mask));
}

std::expected<skua::runtime, skua::start_error> try_runtime(skua::backend which, skua::flavour kind,
                                                            std::size_t workers) {
  skua::runtime::builder how;
  how.backend(which).flavour(kind).log(skua::logger::silent());
  if (workers > 0) how.workers(workers);
  return how.build();
}

/// What usually is behind an error of io_uring_setup(2).
std::string cause_of(std::error_code error) {
  if (error == std::errc::operation_not_permitted || error == std::errc::permission_denied) {
    std::string setting;
    std::ifstream("/proc/sys/kernel/io_uring_disabled") >> setting;
    if (!setting.empty() && setting != "0")
      return "the setting kernel.io_uring_disabled is " + setting;
    return "a filter of system calls, as containers have them, or a security module forbids it";
  }
  if (error == std::errc::function_not_supported)
    return "this kernel has none, or a filter of system calls pretends so";
  if (error == std::errc::invalid_argument) return "this kernel is older than 5.19";
  if (error == std::errc::not_enough_memory)
    return "RLIMIT_MEMLOCK leaves no room for the rings of so many workers";
  if (error == std::errc::too_many_files_open)
    return "RLIMIT_NOFILE leaves no descriptors for the rings of so many workers";
  return "nothing more is known about it";
}

/// Which driver a runtime takes that is not told.
void examine_choice(machine_facts& facts, std::size_t asked) {
  const auto none = try_runtime(skua::backend::none, skua::flavour::multi_thread, 0);
  if (none.has_value()) facts.workers_granted = none->workers();
  facts.workers = asked > 0 ? asked : facts.workers_granted;
  const auto usual = try_runtime(skua::backend::automatic, skua::flavour::multi_thread, asked);
  if (usual.has_value())
    facts.taken = usual->driver_info();
  else
    facts.taken_error = usual.error().message();
}

/// After examine_choice(), which may have shown that it works.
void examine_uring(machine_facts& facts) {
  facts.operations = probe_operations();
  if (facts.taken.used == skua::backend::uring) {
    facts.rings = facts.taken;
  } else {
    const auto asked =
        try_runtime(skua::backend::uring, skua::flavour::multi_thread, facts.workers);
    if (!asked.has_value()) {
      facts.uring_reason = asked.error().code().message() + ": " + cause_of(asked.error().code());
      return;
    }
    facts.rings = asked->driver_info();
  }
  facts.uring_works = true;
  const auto per_core = try_runtime(skua::backend::uring, skua::flavour::thread_per_core, 1);
  facts.rings_of_one_thread = per_core.has_value() && per_core->driver_info().ring_of_one_thread;
}

void warn_of_cpus(machine_facts& facts) {
  const std::string granted = std::to_string(facts.workers_granted);
  if (facts.workers_granted < facts.cpus)
    facts.warnings.push_back("The CPU quota of this control group grants time for " + granted +
                             " of " + std::to_string(facts.cpus) + " CPUs.");
  if (facts.workers > facts.workers_granted)
    facts.warnings.push_back(std::to_string(facts.workers) + " workers share the time of " +
                             granted + " CPUs.");
}

void warn_of_limits(machine_facts& facts) {
  const auto& files = facts.open_files;
  if (files.soft.has_value() && *files.soft < few_files)
    facts.warnings.push_back(
        "RLIMIT_NOFILE is " + with_commas(*files.soft) +
        ": no more connections than that. `ulimit -n` raises it" +
        (files.hard.has_value() ? " up to " + with_commas(*files.hard) + "." : "."));
  const auto& memory = facts.locked_memory;
  if (memory.soft.has_value() && *memory.soft < little_memory)
    facts.warnings.push_back("RLIMIT_MEMLOCK is " + size_text(static_cast<double>(*memory.soft)) +
                             ": rings may be small, and sends without a copy may copy.");
}

void warn_of_uring(machine_facts& facts) {
  if (!facts.taken_error.empty())
    facts.warnings.push_back("No runtime starts here: " + facts.taken_error + ".");
  const skua::config usual;
  if (facts.uring_works && facts.rings.submission_entries < usual.ring_submissions)
    facts.warnings.push_back(
        "Rings are smaller than they should be, for want of memory that may "
        "be locked (RLIMIT_MEMLOCK).");
}

}  // namespace

machine_facts examine_machine(std::size_t workers) {
  machine_facts facts;
  facts.kernel = kernel_release();
  facts.locked_memory = limit_of(RLIMIT_MEMLOCK);
  facts.open_files = limit_of(RLIMIT_NOFILE);
  facts.cpus = cpus_by_affinity();
  examine_choice(facts, workers);
  examine_uring(facts);
  warn_of_uring(facts);
  warn_of_cpus(facts);
  warn_of_limits(facts);
  return facts;
}

}  // namespace skua_tool
