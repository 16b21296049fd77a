// tools/skua/command_line.hpp: reads the command line, and runs the command that it names.
#pragma once

namespace skua_tool {

/// Gives the exit code; throws a failure.
int run_command_line(int count, const char* const* arguments);

}  // namespace skua_tool
