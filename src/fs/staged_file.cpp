// src/fs/staged_file.cpp: a name nobody has, and the way from there to the real one.
#include "fs/staged_file.hpp"

#include "fs/path_text.hpp"
#include "fs/unique_name.hpp"
#include "io/file_call.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/io/file.hpp"
#include "skua/io/stream.hpp"

#include <fcntl.h>
#include <stdio.h>

namespace skua::inline SKUA_ABI::fs {

// Shielded, so that a file that was made is always known.
task<result<staged_file>> staged_file::make(const std::string& target, std::uint32_t mode) {
  const std::string directory = directory_of(target);
  for (int attempt = 0;; ++attempt) {
    std::string path = joined(directory, unique_name(".skua-", ".tmp"));
    auto made = co_await shielded(io::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, mode));
    if (made) co_return staged_file(file(std::move(*made)), std::move(path));
    const bool taken = made.error() == std::errc::file_exists;
    if (!taken || attempt == name_attempts) co_return fail(made.error());
  }
}

staged_file::~staged_file() {
  if (!path_.empty()) (void)file_call::unlink_at(io::working_directory, path_.c_str(), 0);
}

task<result<void>> staged_file::commit(const std::string& target, bool replace) {
  const unsigned flags = replace ? 0 : RENAME_NOREPLACE;
  result<void> renamed = co_await io::rename(path_.c_str(), target.c_str(), flags);
  const bool unsupported = !renamed && !replace && renamed.error() == std::errc::invalid_argument;
  if (unsupported) {  // another way to the same end; discard() removes the first name
    co_return co_await io::link(path_.c_str(), target.c_str());
  }
  if (renamed) path_.clear();
  co_return renamed;
}

task<> staged_file::discard() {
  if (path_.empty()) co_return;
  const auto gone = co_await shielded(io::unlink(path_.c_str()));
  if (gone) path_.clear();
}

task<result<void>> sync_directory_of(const std::string& path) {
  const std::string name = directory_of(path);
  const unique_fd directory =
      co_await or_return(co_await io::open(name.c_str(), O_RDONLY | O_DIRECTORY));
  co_return co_await io::fsync(directory.get());
}

}  // namespace skua::inline SKUA_ABI::fs
