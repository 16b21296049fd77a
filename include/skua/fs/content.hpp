// skua/fs/content.hpp: whole files, read and written by one call.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/fs/write_options.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

/// See skua/fs/operations.hpp for paths and their errors.
namespace skua::inline SKUA_ABI::fs {

/// As many bytes as there are.
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// All bytes of a file, up to its end as it is when that is reached: also of those that do not know
/// how long they are, such as /proc. errc::limit_exceeded as soon as it is clear that there are
/// more than `limit`. Suspends between chunks, so that others run; a stop ends it there. Throws
/// std::bad_alloc.
[[nodiscard, gnu::visibility("default")]] task<result<std::vector<std::byte>>> read_file(
    std::string path, std::size_t limit = no_limit);
/// The same, as text.
[[nodiscard, gnu::visibility("default")]] task<result<std::string>> read_text(
    std::string path, std::size_t limit = no_limit);

/// Makes the file or empties it, and writes `content`, which is borrowed. Stopped or failed, the
/// file has some of it, and nothing of what was there before.
[[nodiscard, gnu::visibility("default")]] task<result<void>> write_file(
    std::string path, std::span<const std::byte> content, write_options how = write_options());

/// The same in one step for everybody who looks: the content goes to a file of another name in the
/// same directory, which then takes the place of whatever is at `path`. Stopped or failed, `path`
/// is as it was, and no other file is left, unless the process is killed (then one named
/// ".skua-*.tmp" may be). Once it has the name, it is not taken back: an error of sync_directory()
/// comes after that.
///
/// The file that was there keeps its other names, if it has any; a link is replaced, not followed.
/// Permissions (0777) are those of a regular file that was there, so that what only its owner could
/// read stays so, unless write_options::mode() says which; the owner is that of a new file.
/// std::errc::is_a_directory for a directory.
[[nodiscard, gnu::visibility("default")]] task<result<void>> write_file_atomic(
    std::string path, std::span<const std::byte> content,
    write_options how = write_options().sync());

}  // namespace skua::inline SKUA_ABI::fs
