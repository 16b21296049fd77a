// tools/skua/runtime_flags.cpp: the runtime that a command asks for.
#include "runtime_flags.hpp"

#include "failure.hpp"

#include <skua/runtime/dispatch.hpp>

namespace skua_tool {

skua::backend backend_named(const std::string& name) {
  if (name == "uring") return skua::backend::uring;
  if (name == "epoll") return skua::backend::epoll;
  return skua::backend::automatic;
}

skua::flavour flavour_named(const std::string& name) {
  if (name == "current_thread") return skua::flavour::current_thread;
  if (name == "thread_per_core") return skua::flavour::thread_per_core;
  return skua::flavour::multi_thread;
}

skua::runtime start_runtime(const runtime_flags& asked) {
  skua::runtime::builder how;
  how.flavour(flavour_named(asked.flavour)).backend(backend_named(asked.backend));
  how.log(skua::logger(skua::log_level::error));  // what matters besides is in the summary
  if (asked.workers > 0) how.workers(asked.workers);
  if (asked.flavour == "thread_per_core") how.dispatcher(skua::dispatch::round_robin());
  auto made = how.build();
  if (!made) throw failure("no runtime: " + std::string(made.error().message()));
  return std::move(*made);
}

std::string describe(const runtime_flags& asked, const skua::runtime_handle& here) {
  const std::size_t workers = here.workers();
  return std::to_string(workers) + (workers == 1 ? " worker, " : " workers, ") + asked.flavour +
         ", " + std::string(name_of(here.driver_info().used));
}

void put_runtime(json& out, const runtime_flags& asked, const skua::runtime_handle& here) {
  const skua::driver_info driver = here.driver_info();
  out.begin_object("runtime")
      .field("workers", here.workers())
      .field("flavour", asked.flavour)
      .field("driver", name_of(driver.used))
      .field("driver_reason", driver.reason())
      .end();
}

std::uint64_t steals_in(const skua::metrics_snapshot& seen) {
  std::uint64_t all = 0;
  for (const skua::worker_metrics& one : seen.workers) all += one.steals;
  return all;
}

}  // namespace skua_tool
