// skua/fs/copy_file.hpp: the same bytes under another name.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/fs/copy_options.hpp"

#include <cstdint>
#include <string>

namespace skua::inline SKUA_ABI::fs {

/// Copies a regular file with its permissions (0777) and its holes, and gives its length. A link at
/// `from` is followed.
///
/// The copy is made under another name in the directory of `to`, and takes its place when it is
/// whole: whoever looks at `to` sees what was there before, or all of the copy. Stopped or failed,
/// `to` is as it was and nothing else is left, unless the process is killed (then a file named
/// ".skua-*.tmp" may be). So a link at `to` is replaced, not written through, and so is another
/// name of `from`; space is needed for old and new together.
///
/// Suspends; threads of the blocking pool do it, some 16 MiB at a time, and a stop takes effect in
/// between. Errors: see skua/fs/operations.hpp, and std::errc::is_a_directory,
/// std::errc::invalid_argument (`from` is no regular file), no_space_on_device, file_exists.
[[nodiscard, gnu::visibility("default")]] task<result<std::uint64_t>> copy_file(
    std::string from, std::string to, copy_options how = copy_options());

}  // namespace skua::inline SKUA_ABI::fs
