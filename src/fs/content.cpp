// src/fs/content.cpp: loops over chunks.
#include "skua/fs/content.hpp"

#include "fs/path_text.hpp"
#include "fs/staged_file.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/fs/file.hpp"
#include "skua/fs/operations.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI::fs {
namespace {

// Room for the whole file and one byte more: the read that finds no more needs no more room.
std::size_t first_room(std::uint64_t size, std::size_t limit) noexcept {
  constexpr std::size_t least = 4'096;
  const std::size_t wanted = std::max<std::size_t>(static_cast<std::size_t>(size) + 1, least);
  return limit == no_limit ? wanted : std::min(wanted, limit + 1);
}

std::size_t more_room(std::size_t now, std::size_t limit) noexcept {
  return limit == no_limit ? now * 2 : std::min(now * 2, limit + 1);
}

template <typename Container>
task<result<Container>> read_all(std::string path, std::size_t limit) {
  file from = co_await or_return(co_await file::open(std::move(path)));
  const file_info about = co_await or_return(co_await from.metadata());
  if (about.is_regular() && about.size() > limit) co_return fail(errc::limit_exceeded);
  Container content;
  content.resize(first_room(about.is_regular() ? about.size() : 0, limit));
  std::size_t length = 0;
  for (;;) {
    if (length > limit) co_return fail(errc::limit_exceeded);
    if (length == content.size()) content.resize(more_room(content.size(), limit));
    const auto room = std::as_writable_bytes(std::span(content)).subspan(length);
    const std::size_t got = co_await or_return(co_await from.read(room));
    if (got == 0) break;
    length += got;
  }
  content.resize(length);
  co_return content;
}

using permissions = std::optional<std::uint32_t>;

/// Of the file that is to be replaced, unless the options say which.
task<result<permissions>> kept_permissions(const std::string& path, const write_options& how) {
  if (how.says_mode()) co_return permissions();
  const auto there = co_await symlink_metadata(path);
  const bool missing = !there && there.error() == std::errc::no_such_file_or_directory;
  if (!there && !missing) co_return fail(there.error());
  if (missing || !there->is_regular()) co_return permissions();
  co_return permissions(there->permissions() & 0777U);
}

task<result<void>> fill(staged_file& staged, const std::string& path,
                        std::span<const std::byte> content, write_options how, permissions kept) {
  if (kept) co_await or_return(co_await staged.content.set_permissions(*kept));
  co_await or_return(co_await staged.content.write_all_at(content, 0));
  if (how.syncs()) co_await or_return(co_await staged.content.sync_all());
  co_await or_return(co_await std::move(staged.content).close());
  co_return co_await staged.commit(path, true);
}

}  // namespace

task<result<std::vector<std::byte>>> read_file(std::string path, std::size_t limit) {
  return read_all<std::vector<std::byte>>(std::move(path), limit);
}

task<result<std::string>> read_text(std::string path, std::size_t limit) {
  return read_all<std::string>(std::move(path), limit);
}

task<result<void>> write_file(std::string path, std::span<const std::byte> content,
                              write_options how) {
  const auto fresh = open_options().write().create().truncate().mode(how.permissions());
  file to = co_await or_return(co_await file::open(std::move(path), fresh));
  co_await or_return(co_await to.write_all(content));
  if (how.syncs()) co_await or_return(co_await to.sync_all());
  co_return co_await std::move(to).close();
}

task<result<void>> write_file_atomic(std::string path, std::span<const std::byte> content,
                                     write_options how) {
  co_await or_return(checked(path));
  const permissions kept = co_await or_return(co_await kept_permissions(path, how));
  const std::uint32_t mode = kept ? 0600U : how.permissions();
  staged_file staged = co_await or_return(co_await staged_file::make(path, mode));
  co_await or_return(co_await fill_or_discard(staged, fill(staged, path, content, how, kept)));
  if (!how.syncs_directory()) co_return {};
  co_return co_await sync_directory_of(path);
}

}  // namespace skua::inline SKUA_ABI::fs
