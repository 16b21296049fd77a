// tools/skua/load_session.hpp: runs a load for some time, or until Ctrl-C, and shows how far it is.
#pragma once

#include "load_generator.hpp"
#include "terminal.hpp"

#include <skua/base/result.hpp>
#include <skua/coro/task.hpp>
#include <skua/time/time_span.hpp>

namespace skua_tool {

struct session_limits {
  skua::time_span length;
  skua::task<skua::result<int>> signal;  // a shutdown_signal()
};

/// Of a load that is connected. Ends when the time has passed, when the signal comes, or when no
/// connection is left. `with_tasks`: the line also tells of tasks and steals.
skua::task<> run_session(load_generator& load, session_limits limits, progress_line& line,
                         bool with_tasks);

}  // namespace skua_tool
