// src/fs/read_directory.cpp: one batch of entries a job.
#include "skua/fs/read_directory.hpp"

#include "fs/directory_batch.hpp"
#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"
#include "skua/io/file.hpp"

#include <fcntl.h>

#include <optional>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::fs {
namespace {

using entries = std::vector<directory_entry>;

// In the pool altogether: where kinds have to be asked for, that blocks as well.
result<bool> read_some(directory_batch* batch, int directory, entries* into) {
  const auto filled = batch->fill(directory);
  if (!filled) return fail(filled.error());
  for (directory_batch::entry one; batch->next(one);)
    into->emplace_back(one.name, one.kind, one.inode);
  return *filled;
}

task<result<unique_fd>> open_directory(const std::string& path) {
  const auto good = checked(path);
  if (!good) co_return fail(good.error());
  co_return co_await io::open(path.c_str(), O_RDONLY | O_DIRECTORY);
}

}  // namespace

async_generator<result<directory_entry>> read_directory(std::string path) {
  result<unique_fd> directory = co_await open_directory(path);
  std::error_code failed;
  if (!directory) failed = directory.error();
  directory_batch batch;
  entries some;
  while (!failed) {
    some.clear();
    const result<bool> more = co_await in_pool(read_some, &batch, directory->get(), &some);
    if (!more) failed = more.error();
    if (more && !*more) co_return;
    for (directory_entry& one : some) {
      result<directory_entry> given(std::move(one));
      co_yield std::move(given);
    }
  }
  result<directory_entry> error = fail(failed);
  co_yield std::move(error);
}

}  // namespace skua::inline SKUA_ABI::fs
