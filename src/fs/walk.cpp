// src/fs/walk.cpp: reads a tree directory by directory, some of it in each job.
#include "skua/fs/walk.hpp"

#include "fs/descent.hpp"
#include "fs/directory_batch.hpp"
#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::fs {
namespace {

/// Reads each directory to its end, and then goes into those that were in it, the last one first.
/// Everything blocks.
class tree_walker {
public:
  tree_walker(std::string root, const walk_options& how) : path_(std::move(root)), how_(how) {}

  /// Adds what comes next, several entries at least; false at the end.
  bool step(std::vector<walk_entry>& into) {
    std::size_t directories = 0;
    while (into.size() < enough && directories < enough / 4) {
      if (reading_) {
        read_batch(into);
      } else if (!tree_) {
        begin(into);
      } else if (!levels_.back().pending.empty()) {
        enter_next(into);
        ++directories;
      } else if (!leave(into)) {
        return false;
      }
      if (over_) return false;
    }
    return true;
  }

private:
  struct child {
    std::string name;
    bool is_link;
  };
  struct level {
    std::vector<child> pending;  // to be gone into
    std::size_t path_length;     // of the directory
    std::size_t name_length;     // the last part of that
  };
  static constexpr std::size_t enough = 1'024;

  /// Once begin() has opened it.
  descent& tree() noexcept {
    return *tree_;  // NOLINT(bugprone-unchecked-optional-access): as said
  }

  void begin(std::vector<walk_entry>& into) {
    auto opened = descent::begin(path_.c_str(), 0);
    levels_.push_back(level{{}, path_.size(), 0});
    if (!opened) {
      over_ = true;
      return report(opened.error(), into);
    }
    tree_.emplace(std::move(*opened));
    reading_ = how_.max_depth() > 0;
    over_ = !reading_;
  }

  void read_batch(std::vector<walk_entry>& into) {
    const auto more = batch_.fill(tree().directory());
    reading_ = more.value_or(false);
    if (!more) return report(more.error(), into);
    for (directory_batch::entry one; batch_.next(one);) add(one, into);
  }

  void add(const directory_batch::entry& found, std::vector<walk_entry>& into) {
    const std::string_view name = found.name;
    const bool is_link = found.kind == file_kind::symlink && how_.follows_symlinks();
    const file_kind kind = is_link ? kind_behind(found.name) : found.kind;
    const std::size_t depth = levels_.size();
    into.emplace_back(joined(path_, name), name.size(), kind, depth);
    if (kind != file_kind::directory || depth >= how_.max_depth()) return;
    if (how_.enter_if() != nullptr && !how_.enter_if()(into.back())) return;
    levels_.back().pending.push_back(child{std::string(name), is_link});
  }

  file_kind kind_behind(const char* link) {
    const auto seen = file_call::identify_at(tree().directory(), link, true);
    return seen ? kind_of_mode(seen->mode) : file_kind::symlink;
  }

  void enter_next(std::vector<walk_entry>& into) {
    const child next = std::move(levels_.back().pending.back());
    levels_.back().pending.pop_back();
    const auto entered = tree().enter(next.name.c_str(), next.is_link);
    path_ = joined(path_, next.name);
    levels_.push_back(level{{}, path_.size(), next.name.size()});
    if (!entered) report(entered.error(), into);
    if (entered)
      reading_ = true;
    else
      forget_level();
  }

  // Without the way back, what is left above cannot be reached, level by level.
  bool leave(std::vector<walk_entry>& into) {
    forget_level();
    if (levels_.empty()) return false;
    const auto left = tree().leave();
    if (!left) {
      report(left.error(), into);
      over_ = true;
    }
    return true;
  }

  void forget_level() {
    levels_.pop_back();
    if (!levels_.empty()) path_.resize(levels_.back().path_length);
  }

  void report(const std::error_code& error, std::vector<walk_entry>& into) {
    const level& at = levels_.back();
    into.emplace_back(path_, at.name_length, file_kind::directory, levels_.size() - 1, error);
    over_ = over_ || how_.stops_at_error();
  }

  std::string path_;
  walk_options how_;
  std::optional<descent> tree_;
  std::vector<level> levels_;
  directory_batch batch_;
  bool reading_ = false;
  bool over_ = false;
};

result<bool> walk_on(tree_walker* walker, std::vector<walk_entry>* into) {
  return walker->step(*into);
}

}  // namespace

async_generator<walk_entry> walk(std::string path, walk_options how) {
  std::error_code failed;
  if (const auto good = checked(path); !good) failed = good.error();
  tree_walker walker(path, how);
  std::vector<walk_entry> found;
  bool more = true;
  while (!failed && more) {
    found.clear();
    const result<bool> walked = co_await in_pool(walk_on, &walker, &found);
    if (!walked) failed = walked.error();
    more = walked.value_or(false);
    for (walk_entry& one : found) co_yield std::move(one);
  }
  if (!failed) co_return;
  walk_entry error(path, 0, file_kind::unknown, 0, failed);
  co_yield std::move(error);
}

}  // namespace skua::inline SKUA_ABI::fs
