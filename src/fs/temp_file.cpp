// src/fs/temp_file.cpp: files without a name, or with one that nobody has.
#include "skua/fs/temp_file.hpp"

#include "fs/path_text.hpp"
#include "fs/unique_name.hpp"
#include "io/file_call.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/io/file.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <utility>

namespace skua::inline SKUA_ABI::fs {
namespace {

constexpr unsigned for_its_user = 0600;

bool cannot_do_without_name(const std::error_code& error) noexcept {
  return error == std::errc::operation_not_supported || error == std::errc::is_a_directory ||
         error == std::errc::invalid_argument;
}

void unlink_now(const std::string& path) noexcept {
  if (!path.empty()) (void)file_call::unlink_at(io::working_directory, path.c_str(), 0);
}

}  // namespace

std::string temp_path() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

task<result<temp_file>> temp_file::create(std::string directory) {
  co_await or_return(checked(directory));
  auto made = co_await shielded(io::open(directory.c_str(), O_TMPFILE | O_RDWR, for_its_user));
  if (made) co_return temp_file(file(std::move(*made)), std::string());
  if (!cannot_do_without_name(made.error())) co_return fail(made.error());
  co_return co_await create_named(std::move(directory));
}

task<result<temp_file>> temp_file::create_named(std::string directory, std::string prefix) {
  co_await or_return(checked(directory));
  co_await or_return(checked(prefix));
  for (int attempt = 0;; ++attempt) {
    std::string path = joined(directory, unique_name(prefix, ""));
    auto made = co_await shielded(io::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, for_its_user));
    if (made) co_return temp_file(file(std::move(*made)), std::move(path));
    const bool taken = made.error() == std::errc::file_exists;
    if (!taken || attempt == name_attempts) co_return fail(made.error());
  }
}

temp_file& temp_file::operator=(temp_file&& from) noexcept {
  if (this == &from) return *this;
  unlink_now(path_);
  content_ = std::move(from.content_);
  path_ = std::exchange(from.path_, {});
  return *this;
}

temp_file::~temp_file() {
  unlink_now(path_);
}

// It gets a name beside the one that it is to have: link(2) replaces nothing, rename(2) does.
task<result<void>> temp_file::name_it(const std::string& to) {
  const std::string open = "/proc/self/fd/" + std::to_string(content_.get());
  std::string beside = joined(directory_of(to), unique_name(".skua-", ".tmp"));
  co_await or_return(co_await shielded(io::link(open.c_str(), beside.c_str(), AT_SYMLINK_FOLLOW)));
  path_ = std::move(beside);
  co_return {};
}

task<result<file>> temp_file::persist(std::string to) && {
  return persist_owned(std::move(*this), std::move(to));
}

task<result<file>> temp_file::persist_owned(temp_file self, std::string to) {
  co_await or_return(checked(to));
  if (self.path_.empty()) co_await or_return(co_await self.name_it(to));
  co_await or_return(co_await io::rename(self.path_.c_str(), to.c_str()));
  self.path_.clear();
  co_return std::move(self.content_);
}

task<result<void>> temp_file::remove() && {
  return remove_owned(std::move(*this));
}

task<result<void>> temp_file::remove_owned(temp_file self) {
  result<void> gone;
  if (!self.path_.empty()) gone = co_await shielded(io::unlink(self.path_.c_str()));
  if (gone) self.path_.clear();
  const result<void> closed = co_await shielded(std::move(self.content_).close());
  if (!gone) co_return gone;
  co_return closed;
}

}  // namespace skua::inline SKUA_ABI::fs
