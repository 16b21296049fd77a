// src/fs/operations.cpp: paths, checked and handed to the kernel.
#include "skua/fs/operations.hpp"

#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"
#include "io/file_call.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::fs {
namespace {

task<result<file_info>> look_at(std::string path, int flags) {
  co_await or_return(checked(path));
  struct ::statx about{};
  co_await or_return(
      co_await io::statx(path.c_str(), flags, STATX_BASIC_STATS | STATX_BTIME, about));
  co_return file_info(about);
}

task<result<void>> remove(std::string path, int flags) {
  co_await or_return(checked(path));
  co_return co_await io::unlink(path.c_str(), flags);
}

bool is_missing(const std::error_code& error) noexcept {
  return error == std::errc::no_such_file_or_directory;
}

// Success, too, if a directory is there already.
task<result<void>> make_directory(const char* path, std::uint32_t mode) {
  const result<void> made = co_await io::mkdir(path, mode);
  if (made || made.error() != std::errc::file_exists) co_return made;
  const auto there = co_await look_at(path, 0);
  if (there && there->is_directory()) co_return result<void>();
  co_return made;
}

}  // namespace

task<result<file_info>> metadata(std::string path) {
  return look_at(std::move(path), 0);
}

task<result<file_info>> symlink_metadata(std::string path) {
  return look_at(std::move(path), AT_SYMLINK_NOFOLLOW);
}

task<result<bool>> exists(std::string path) {
  const auto seen = co_await look_at(std::move(path), 0);
  if (seen) co_return true;
  if (is_missing(seen.error()) || seen.error() == std::errc::not_a_directory) co_return false;
  co_return fail(seen.error());
}

task<result<void>> create_directory(std::string path, std::uint32_t mode) {
  co_await or_return(checked(path));
  co_return co_await io::mkdir(path.c_str(), mode);
}

// Up to the first whose parent exists, and down again.
task<result<void>> create_directories(std::string path, std::uint32_t mode) {
  co_await or_return(checked(path));
  std::vector<std::string> wanted;
  wanted.push_back(std::move(path));
  while (!wanted.empty()) {
    const result<void> made = co_await make_directory(wanted.back().c_str(), mode);
    if (made) {
      wanted.pop_back();
      continue;
    }
    std::string above = directory_of(wanted.back());
    if (!is_missing(made.error()) || above.size() >= wanted.back().size()) co_return made;
    wanted.push_back(std::move(above));
  }
  co_return {};
}

task<result<void>> remove_file(std::string path) {
  return remove(std::move(path), 0);
}

task<result<void>> remove_directory(std::string path) {
  return remove(std::move(path), AT_REMOVEDIR);
}

task<result<void>> rename(std::string from, std::string to) {
  co_await or_return(checked(from));
  co_await or_return(checked(to));
  co_return co_await io::rename(from.c_str(), to.c_str());
}

task<result<void>> hard_link(std::string existing, std::string path) {
  co_await or_return(checked(existing));
  co_await or_return(checked(path));
  co_return co_await io::link(existing.c_str(), path.c_str());
}

task<result<void>> symlink(std::string target, std::string path) {
  co_await or_return(checked(target));
  co_await or_return(checked(path));
  co_return co_await io::symlink(target.c_str(), path.c_str());
}

task<result<std::string>> read_link(std::string path) {
  co_await or_return(checked(path));
  co_return co_await in_pool(file_call::read_link, path.c_str());
}

task<result<std::string>> canonical(std::string path) {
  co_await or_return(checked(path));
  co_return co_await in_pool(file_call::canonical, path.c_str());
}

task<result<void>> set_permissions(std::string path, std::uint32_t mode) {
  co_await or_return(checked(path));
  co_return co_await in_pool(file_call::change_mode_of, path.c_str(), mode);
}

}  // namespace skua::inline SKUA_ABI::fs
