// src/fs/open_options.cpp: from words to O_* flags.
#include "skua/fs/open_options.hpp"

#include "skua/base/error.hpp"

#include <fcntl.h>

namespace skua::inline SKUA_ABI::fs {

result<int> open_options::to_flags() const noexcept {
  const bool writes = has(writable | appends);
  if (!writes && (!has(readable) || has(truncates | creates | only_new)))
    return fail(std::errc::invalid_argument);
  if (has(truncates) && has(appends)) return fail(std::errc::invalid_argument);
  int made = more_ | O_CLOEXEC;
  if (writes)
    made |= has(readable) ? O_RDWR : O_WRONLY;
  else
    made |= O_RDONLY;
  if (has(appends)) made |= O_APPEND;
  if (has(truncates)) made |= O_TRUNC;
  if (has(creates)) made |= O_CREAT;
  if (has(only_new)) made |= O_CREAT | O_EXCL;
  if (has(stays)) made |= O_NOFOLLOW;
  if (has(unbuffered)) made |= O_DIRECT;
  if (has(syncs)) made |= O_DSYNC;
  if (has(no_wait)) made |= O_NONBLOCK;
  return made;
}

}  // namespace skua::inline SKUA_ABI::fs
