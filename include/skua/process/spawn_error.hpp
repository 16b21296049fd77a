// skua/process/spawn_error.hpp: at what the start of a program failed.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>
#include <optional>
#include <system_error>

namespace skua::inline SKUA_ABI::process {

/// What was being done.
enum class spawn_step : std::uint8_t {
  arguments,          ///< one of them, or a variable of the environment, has a zero byte in it
  process,            ///< to make a process: no memory, no number, too many
  streams,            ///< to open a file or make a pipe for it, or to put it in its place
  group,              ///< its session or its process group
  identity,           ///< its user and groups
  working_directory,  ///< to enter it
  program,            ///< to execute it
};

/// An error of command::spawn() equals the std::errc of the same cause, whatever the step was:
///
///   program       no_such_file_or_directory, permission_denied, executable_format_error,
///                 argument_list_too_long
///   working_directory   no_such_file_or_directory, permission_denied, not_a_directory
///   identity, group     operation_not_permitted
///   streams       those of open(2); too_many_files_open; bad_file_descriptor; invalid_argument
///                 for a path with a zero byte in it
///   process       resource_unavailable_try_again, not_enough_memory
///
/// and its message names the step: "working directory: No such file or directory". This tells the
/// step; nothing if the error is of another kind.
[[nodiscard, gnu::visibility("default")]] std::optional<spawn_step> step_of(
    const std::error_code& error) noexcept;

/// The code for a step and a positive errno value.
[[nodiscard, gnu::visibility("default")]] std::error_code spawn_error(spawn_step at,
                                                                      int number) noexcept;

}  // namespace skua::inline SKUA_ABI::process
