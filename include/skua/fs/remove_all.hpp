// skua/fs/remove_all.hpp: a file, or a directory with all that is in it, is gone.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"

#include <cstdint>
#include <string>

namespace skua::inline SKUA_ABI::fs {

/// Removes what is at `path`, with everything in it, and gives how many files and directories that
/// were; 0 if there was nothing. Links are removed, never followed, and a directory that somebody
/// replaces by a link meanwhile does not lead it elsewhere. Trees may be of any depth, and several
/// may remove the same one at the same time.
///
/// Suspends; threads of the blocking pool do it, some hundred names at a time, and a stop takes
/// effect in between. Stopped, or failed with what the kernel says (std::errc::permission_denied,
/// directory_not_empty if others fill it again...), a part is gone and the rest is still there.
/// Before anything is removed: std::errc::invalid_argument for a path with a zero byte in it, or
/// that ends with "." or ".."; device_or_resource_busy for the root of everything.
[[nodiscard, gnu::visibility("default")]] task<result<std::uint64_t>> remove_all(std::string path);

}  // namespace skua::inline SKUA_ABI::fs
