// skua/fs/temp_directory.hpp: a directory that is gone when nobody needs it any more.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/fs/temp_file.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

/// A directory of its own, which only its user may look into (0700).
class [[gnu::visibility("default")]] temp_directory {
public:
  /// Makes one, named `prefix` and sixteen letters and digits. Errors: see
  /// skua/fs/operations.hpp. A stop waits for it, so that it is not forgotten.
  [[nodiscard]] static task<result<temp_directory>> create(std::string in = temp_path(),
                                                           std::string prefix = "skua-");

  /// `from` has none then.
  temp_directory(temp_directory&& from) noexcept : path_(std::exchange(from.path_, {})) {}
  /// Removes the one that it has, as the destructor does. `from` has none then.
  temp_directory& operator=(temp_directory&& from) noexcept;
  /// Removes it with all that is in it, which blocks, and may take long; remove() does not block.
  ~temp_directory();

  /// Where it is; empty if it was moved from.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The path of `name` in it.
  [[nodiscard]] std::string operator/(std::string_view name) const;

  /// Removes it with all that is in it; see remove_all(). A stop waits for its end.
  [[nodiscard]] task<result<void>> remove() &&;
  /// It stays.
  [[nodiscard]] std::string keep() && noexcept { return std::exchange(path_, {}); }

private:
  explicit temp_directory(std::string path) noexcept : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace skua::inline SKUA_ABI::fs
