// skua/fs/walk.hpp: everything in a tree of directories, as a stream.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/fs/walk_entry.hpp"
#include "skua/fs/walk_options.hpp"

#include <string>

namespace skua::inline SKUA_ABI::fs {

/// All that is beneath a directory: a directory before what is in it, otherwise in no order. A link
/// at the end of `path` itself is followed.
///
///   auto tree = fs::walk("/usr/include");
///   while (auto one = co_await tree.next()) use(one->path());
///
/// A directory that cannot be read is given once more, with walk_entry::error(), and the walk goes
/// on, unless the options say otherwise; a path with a zero byte in it gives
/// std::errc::invalid_argument so. What is made, moved or removed meanwhile may be there or not,
/// but nobody can lead the walk out of the tree by a link that was a directory before.
///
/// Threads of the blocking pool read ahead, some thousand entries at a time; in between, next()
/// does not suspend. A stop ends it, after the thousand that a thread is at. At most 18
/// descriptors are open, however deep the tree; more, one for each, where links are followed.
[[nodiscard, gnu::visibility("default")]] async_generator<walk_entry> walk(
    std::string path, walk_options how = walk_options());

}  // namespace skua::inline SKUA_ABI::fs
