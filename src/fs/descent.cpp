// src/fs/descent.cpp: one open directory a level, for as many levels as there are descriptors for.
#include "fs/descent.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/io/file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

result<descent::level> descent::open_level(int from, const char* name, int flags) noexcept {
  auto opened = file_call::open_at(from, name, O_RDONLY | O_DIRECTORY | flags);
  if (!opened) return fail(opened.error());
  const auto which = file_call::identify(opened->get());
  if (!which) return fail(which.error());
  level made;
  made.fd = std::move(*opened);
  made.which = *which;
  return made;
}

result<descent> descent::begin(const char* path, int flags) {
  auto first = open_level(io::working_directory, path, flags);
  if (!first) return fail(first.error());
  return descent(std::move(*first));
}

bool descent::is_above(const file_call::identity& which) const noexcept {
  return std::ranges::any_of(levels_, [&](const level& one) { return one.which.same_file(which); });
}

bool descent::is_root() const noexcept {
  const auto root = file_call::identify_at(io::working_directory, "/", true);
  return root && root->same_file(levels_.back().which);
}

result<void> descent::enter(const char* name, bool follow) {
  auto next = open_level(directory(), name, follow ? 0 : O_NOFOLLOW);
  if (!next) return fail(next.error());
  if (follow && is_above(next->which)) return fail(std::errc::too_many_symbolic_link_levels);
  next->by_link = follow;
  levels_.push_back(std::move(*next));
  if (levels_.size() > kept_open) {
    const std::size_t oldest = levels_.size() - kept_open - 1;
    if (!levels_[oldest + 1].by_link) levels_[oldest].fd.reset();
  }
  return {};
}

result<void> descent::leave() noexcept {
  check(levels_.size() > 1, "the way up ends where the way down began");
  const level last = std::move(levels_.back());
  levels_.pop_back();
  level& above = levels_.back();
  if (above.fd) return {};
  auto found = open_level(last.fd.get(), "..", O_NOFOLLOW);
  if (!found) return fail(found.error());
  if (!found->which.same_file(above.which)) return fail(std::errc::no_such_file_or_directory);
  above.fd = std::move(found->fd);
  return {};
}

}  // namespace skua::inline SKUA_ABI::fs
