// skua/fs/operations.hpp: what can be done with files and directories by their paths.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/fs/file_info.hpp"

#include <cstdint>
#include <string>

/// Paths are taken by value, so that a task that starts later finds them whole; a
/// std::filesystem::path is taken, too. One with a zero byte in it is refused with
/// std::errc::invalid_argument; all else is what the kernel says: no_such_file_or_directory,
/// permission_denied, not_a_directory, is_a_directory, filename_too_long, read_only_file_system,
/// too_many_symbolic_link_levels...
///
/// Each function suspends, for any task. Where the comment names nothing else, it is one operation
/// of the driver: stopped before the kernel has taken it, nothing happens; later, the task goes on
/// with what came of it, and stops at its next leaf.
namespace skua::inline SKUA_ABI::fs {

/// Of what the path leads to, through links.
[[nodiscard, gnu::visibility("default")]] task<result<file_info>> metadata(std::string path);
/// Of the link itself, if it is one.
[[nodiscard, gnu::visibility("default")]] task<result<file_info>> symlink_metadata(
    std::string path);
/// Whether the path leads to something. An error is not the answer "no": it may be that nobody may
/// look. True or false, it may have changed by the time it is known.
[[nodiscard, gnu::visibility("default")]] task<result<bool>> exists(std::string path);

/// std::errc::file_exists if something is there. `mode`: less what umask takes away.
[[nodiscard, gnu::visibility("default")]] task<result<void>> create_directory(
    std::string path, std::uint32_t mode = 0777);
/// With all above it that are missing; fine if it is there already. Others may make the same ones
/// at the same time. Several operations: stopped or failed, some may have been made.
[[nodiscard, gnu::visibility("default")]] task<result<void>> create_directories(
    std::string path, std::uint32_t mode = 0777);

/// std::errc::is_a_directory for a directory. A link is removed, not what it leads to.
[[nodiscard, gnu::visibility("default")]] task<result<void>> remove_file(std::string path);
/// std::errc::directory_not_empty, not_a_directory.
[[nodiscard, gnu::visibility("default")]] task<result<void>> remove_directory(std::string path);

/// Replaces what is at `to`, in one step. std::errc::cross_device_link between file systems.
[[nodiscard, gnu::visibility("default")]] task<result<void>> rename(std::string from,
                                                                    std::string to);
/// `path` becomes another name of `existing`, which is not followed if it is a link.
[[nodiscard, gnu::visibility("default")]] task<result<void>> hard_link(std::string existing,
                                                                       std::string path);
/// `path` becomes a link that says `target`, whether or not that exists.
[[nodiscard, gnu::visibility("default")]] task<result<void>> symlink(std::string target,
                                                                     std::string path);

/// What a link says. std::errc::invalid_argument if it is none. On a thread of the blocking pool.
[[nodiscard, gnu::visibility("default")]] task<result<std::string>> read_link(std::string path);
/// The path from the root, without links, "." and "..". On a thread of the blocking pool.
[[nodiscard, gnu::visibility("default")]] task<result<std::string>> canonical(std::string path);
/// 0644 and the like; of what a link leads to. On a thread of the blocking pool.
[[nodiscard, gnu::visibility("default")]] task<result<void>> set_permissions(std::string path,
                                                                             std::uint32_t mode);

}  // namespace skua::inline SKUA_ABI::fs
