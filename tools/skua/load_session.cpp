// tools/skua/load_session.cpp: runs a load for some time, or until Ctrl-C, and shows how far it is.
#include "load_session.hpp"

#include "failure.hpp"
#include "runtime_flags.hpp"

#include <skua/coro/race.hpp>
#include <skua/runtime/runtime.hpp>
#include <skua/sync/cancel_source.hpp>
#include <skua/sync/event.hpp>
#include <skua/time/sleep.hpp>
#include <skua/time/timeout.hpp>

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

namespace skua_tool {
namespace {

using namespace std::chrono_literals;

// Says when; then waits to be stopped.
skua::task<> end_at(session_limits& limits, skua::cancel_source end) {
  const auto came = co_await skua::timeout(limits.length, std::move(limits.signal));
  if (!came.has_value() && came.error() != std::errc::timed_out)
    throw failure("cannot listen to signals: " + came.error().message());
  end.cancel();
  skua::event never;
  co_await never.wait();
}

skua::task<> show_progress(const load_generator& load, progress_line& line, bool with_tasks) {
  if (!line.shown()) {
    skua::event never;
    co_await never.wait();
  }
  for (;;) {
    co_await skua::sleep(250ms);
    std::string text = progress_text(load.so_far());
    if (with_tasks) {
      const auto seen = skua::runtime_handle::current().metrics();
      text += "  " + with_commas(seen.live) + " tasks, " + with_commas(steals_in(seen)) +
              " steals, " + std::string(name_of(seen.driver));
    }
    line.show("  " + text);
  }
}

}  // namespace

skua::task<> run_session(load_generator& load, session_limits limits, progress_line& line,
                         bool with_tasks) {
  skua::cancel_source end;
  co_await skua::race(load.run(end.token()), end_at(limits, end),
                      show_progress(load, line, with_tasks));
  line.clear();
}

}  // namespace skua_tool
