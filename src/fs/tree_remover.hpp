// src/fs/tree_remover.hpp: removes a tree, some of it at a time.
#pragma once

#include "fs/descent.hpp"
#include "fs/directory_batch.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skua::inline SKUA_ABI::fs {

/// Everything blocks. For one thread at a time.
class tree_remover {
public:
  explicit tree_remover(std::string path) : path_(std::move(path)) {}

  /// Removes some hundred names; false when there is nothing left to do.
  [[nodiscard]] result<bool> step();
  /// Names that are gone.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
  static constexpr int most_beginnings = 64;  // anew, after the first

  struct level {
    std::string name;
    std::vector<std::string> pending;  // directories that are to be removed first
  };

  [[nodiscard]] result<bool> begin();
  /// Once begin() has opened it.
  [[nodiscard]] descent& tree() noexcept {
    return *tree_;  // NOLINT(bugprone-unchecked-optional-access): as said
  }
  [[nodiscard]] result<void> advance();
  [[nodiscard]] result<void> enter(std::string name);
  [[nodiscard]] result<void> empty_some();
  [[nodiscard]] result<void> take(int directory, const directory_batch::entry& one);
  [[nodiscard]] result<void> leave();
  [[nodiscard]] result<void> begin_again();
  [[nodiscard]] result<void> unlink(int directory, const char* name, int flags);

  std::string path_;
  std::optional<descent> tree_;
  std::vector<level> levels_;
  directory_batch batch_;
  std::uint64_t count_ = 0;
  int beginnings_ = 0;
};

}  // namespace skua::inline SKUA_ABI::fs
