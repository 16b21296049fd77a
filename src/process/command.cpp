// src/process/command.cpp: start a program, and what one mostly wants then.
#include "skua/process/command.hpp"

#include "process/launch.hpp"
#include "process/process_record.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/process/spawn_error.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <unistd.h>

#include <functional>
#include <memory>
#include <system_error>

namespace skua::inline SKUA_ABI::process {
namespace {

task<result<void>> on_pool(launch& what) {
  const auto run = [](launch& given) { return given.run(); };
  try {
    co_return co_await spawn_blocking(run, std::ref(what));
  } catch (const std::system_error& no_thread) {
    co_return fail(spawn_error(spawn_step::process, no_thread.code().value()));
  }
}

}  // namespace

command& command::give(unique_fd fd, int as) {
  check(as > STDERR_FILENO, "a descriptor is given above the standard streams");
  for (const given_fd& one : given_) check(one.as != as, "a number is given once");
  given_.push_back({std::move(fd), as});
  return *this;
}

task<result<child>> command::spawn() {
  return spawn_with(stdio::kind::inherit, stdio::kind::inherit);
}

// All that may fail for lack of memory comes before there is a process.
task<result<child>> command::spawn_with(stdio::kind in, stdio::kind out) {
  auto record = std::make_unique<process_record>();
  const runtime_handle home = runtime_handle::current();
  record->home = home;
  record->kill_when_dropped = kills_on_drop_;
  adopt_orphans(home);

  launch start(*this, in, out);
  if (const auto ready = start.prepare(); !ready) co_return fail(ready.error());
  const result<void> done = co_await on_pool(start);
  if (!done.has_value()) co_return fail(done.error());

  const bool leads = new_session_ || group_ == pid_t{0};
  record->started(start.made.id, std::move(start.made.pidfd), leads);
  child made(*record.release());
  if (start.ends[0]) made.in_.emplace(std::move(start.ends[0]));
  if (start.ends[1]) made.out_.emplace(std::move(start.ends[1]));
  if (start.ends[2]) made.err_.emplace(std::move(start.ends[2]));
  co_return made;
}

task<result<exit_status>> command::run() {
  result<child> made = co_await spawn();
  if (!made.has_value()) co_return fail(made.error());
  co_return co_await made->wait();
}

}  // namespace skua::inline SKUA_ABI::process
