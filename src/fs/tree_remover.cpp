// src/fs/tree_remover.cpp: empties each directory of its files, then of its directories.
#include "fs/tree_remover.hpp"

#include "io/file_call.hpp"
#include "skua/base/error.hpp"
#include "skua/io/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace skua::inline SKUA_ABI::fs {
namespace {

constexpr std::uint64_t enough = 512;

bool is_gone_already(const std::error_code& error) noexcept {
  return error == std::errc::no_such_file_or_directory;
}

// What open(2) says of a file or a link that was to be a directory.
bool is_no_directory(const std::error_code& error) noexcept {
  return error == std::errc::not_a_directory || error == std::errc::too_many_symbolic_link_levels;
}

}  // namespace

result<bool> tree_remover::step() {
  const std::uint64_t before = count_;
  if (!tree_) {
    const auto begun = begin();
    if (!begun || !*begun) return begun;
  }
  for (std::uint64_t turns = 0; count_ - before < enough && turns < enough; ++turns) {
    if (levels_.empty()) return false;
    if (const auto done = advance(); !done) return fail(done.error());
  }
  return true;
}

// False if there is no tree: there was nothing, or it is gone.
result<bool> tree_remover::begin() {
  auto opened = descent::begin(path_.c_str(), O_NOFOLLOW);
  if (opened) {
    if (opened->is_root()) return fail(std::errc::device_or_resource_busy);
    tree_.emplace(std::move(*opened));
    levels_.push_back(level{path_, {}});
    return true;
  }
  if (is_gone_already(opened.error())) return false;
  if (!is_no_directory(opened.error())) return fail(opened.error());
  if (const auto gone = unlink(io::working_directory, path_.c_str(), 0); !gone)
    return fail(gone.error());
  return false;
}

result<void> tree_remover::advance() {
  std::vector<std::string>& pending = levels_.back().pending;
  if (pending.empty()) return empty_some();
  std::string name = std::move(pending.back());
  pending.pop_back();
  return enter(std::move(name));
}

result<void> tree_remover::enter(std::string name) {
  const auto entered = tree().enter(name.c_str(), false);
  if (entered) {
    levels_.push_back(level{std::move(name), {}});
    return {};
  }
  if (is_gone_already(entered.error())) return {};
  if (is_no_directory(entered.error())) return unlink(tree().directory(), name.c_str(), 0);
  return fail(entered.error());
}

// From the start each time: what is removed moves what is left, in some file systems. Only a call
// that gives nothing is the end: a signal or the work of a ring may cut one short behind the dots.
result<void> tree_remover::empty_some() {
  const int here = tree().directory();
  if (const auto back = file_call::seek(here, 0, SEEK_SET); !back) return fail(back.error());
  for (bool empty = true; empty;) {
    const auto filled = batch_.fill(here);
    if (!filled && !is_gone_already(filled.error())) return fail(filled.error());
    if (!filled.value_or(false)) return leave();  // at the end, or it is gone
    for (directory_batch::entry one; batch_.next(one); empty = false)
      if (const auto taken = take(here, one); !taken) return taken;
  }
  return {};
}

result<void> tree_remover::take(int directory, const directory_batch::entry& one) {
  if (one.kind == file_kind::directory) {
    levels_.back().pending.emplace_back(one.name);
    return {};
  }
  const auto gone = unlink(directory, one.name, 0);
  if (!gone && gone.error() == std::errc::is_a_directory) return {};  // next time, then
  return gone;
}

result<void> tree_remover::leave() {
  const std::string name = std::move(levels_.back().name);
  levels_.pop_back();
  if (levels_.empty()) return unlink(io::working_directory, name.c_str(), AT_REMOVEDIR);
  const auto left = tree().leave();
  if (left) return unlink(tree().directory(), name.c_str(), AT_REMOVEDIR);
  return is_gone_already(left.error()) ? begin_again() : left;
}

// Others have moved what we are in, or remove the same tree; then the way back is gone.
result<void> tree_remover::begin_again() {
  if (beginnings_ == most_beginnings) return fail(std::errc::no_such_file_or_directory);
  ++beginnings_;
  levels_.clear();
  tree_.reset();
  const auto begun = begin();
  if (!begun) return fail(begun.error());
  return {};
}

result<void> tree_remover::unlink(int directory, const char* name, int flags) {
  const auto gone = file_call::unlink_at(directory, name, flags);
  if (gone) ++count_;
  if (!gone && !is_gone_already(gone.error())) return gone;
  return {};
}

}  // namespace skua::inline SKUA_ABI::fs
