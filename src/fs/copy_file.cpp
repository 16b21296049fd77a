// src/fs/copy_file.cpp: a copy beside its target, which then takes its place.
#include "skua/fs/copy_file.hpp"

#include "fs/copier.hpp"
#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"
#include "fs/staged_file.hpp"
#include "io/file_call.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/fs/file.hpp"
#include "skua/fs/operations.hpp"

#include <utility>

namespace skua::inline SKUA_ABI::fs {
namespace {

result<bool> copy_piece(copier* how) {
  return how->step();
}

// A fifo would wait for its other end.
task<result<file>> open_source(std::string path) {
  return file::open(std::move(path), open_options().read().non_blocking());
}

result<void> refuse_what_is_no_file(const file_info& source) {
  if (source.is_directory()) return fail(std::errc::is_a_directory);
  if (!source.is_regular()) return fail(std::errc::invalid_argument);
  return {};
}

// Before much is copied in vain; whether it is there at the end is asked once more.
task<result<void>> refuse_what_is_there(std::string path, bool overwrites) {
  const auto there = co_await symlink_metadata(std::move(path));
  if (there && !overwrites) co_return fail(std::errc::file_exists);
  if (there && there->is_directory()) co_return fail(std::errc::is_a_directory);
  co_return {};
}

task<result<std::uint64_t>> fill(staged_file& staged, const file& from, const file_info& source,
                                 const std::string& to, copy_options how) {
  copier pieces(from.get(), staged.content.get(), static_cast<std::int64_t>(source.size()),
                !how.shares_nothing());
  bool more = true;
  while (more) more = co_await or_return(co_await in_pool(copy_piece, &pieces));
  co_await or_return(co_await staged.content.set_permissions(source.permissions() & 0777U));
  if (how.syncs()) co_await or_return(co_await staged.content.sync_all());
  co_await or_return(co_await std::move(staged.content).close());
  co_await or_return(co_await staged.commit(to, how.overwrites()));
  co_return static_cast<std::uint64_t>(pieces.length());
}

}  // namespace

task<result<std::uint64_t>> copy_file(std::string from, std::string to, copy_options how) {
  co_await or_return(checked(from));
  co_await or_return(checked(to));
  const file source = co_await or_return(co_await open_source(std::move(from)));
  const file_info about = co_await or_return(co_await source.metadata());
  co_await or_return(refuse_what_is_no_file(about));
  co_await or_return(co_await refuse_what_is_there(to, how.overwrites()));
  staged_file staged = co_await or_return(co_await staged_file::make(to, 0600));
  const std::uint64_t length =
      co_await or_return(co_await fill_or_discard(staged, fill(staged, source, about, to, how)));
  if (how.syncs()) co_await or_return(co_await sync_directory_of(to));
  co_return length;
}

}  // namespace skua::inline SKUA_ABI::fs
