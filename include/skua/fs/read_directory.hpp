// skua/fs/read_directory.hpp: the names in a directory, as a stream.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/fs/directory_entry.hpp"

#include <string>

namespace skua::inline SKUA_ABI::fs {

/// The entries of a directory, in no order:
///
///   auto names = fs::read_directory("/etc");
///   while (auto one = co_await names.next()) use(or_throw(std::move(*one)).name());
///
/// Opened by the first next(), closed at the end or when the generator is dropped. An error is the
/// last thing it gives: std::errc::no_such_file_or_directory, not_a_directory, permission_denied,
/// invalid_argument (a zero byte in the path). What is made or removed meanwhile may be there or
/// not. Entries are read some thousand at a time, by a thread of the blocking pool; in between,
/// next() does not suspend. A stop ends it.
[[nodiscard, gnu::visibility("default")]] async_generator<result<directory_entry>> read_directory(
    std::string path);

}  // namespace skua::inline SKUA_ABI::fs
