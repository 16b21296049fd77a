// skua/fs/temp_file.hpp: a file that is gone when nobody needs it any more.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/fs/file.hpp"

#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

/// Where files that do not last go: $TMPDIR, or /tmp.
[[nodiscard, gnu::visibility("default")]] std::string temp_path();

/// A file of its own, empty at first, to read and to write; only its user may open it (0600). For
/// one task at a time, but for what skua::fs::file allows.
class [[gnu::visibility("default")]] temp_file {
public:
  /// Without a name, where the file system can do that: then it vanishes with its last descriptor,
  /// however the process ends. Otherwise with one, as create_named() does. Errors: see
  /// skua/fs/operations.hpp. A stop waits for the file, so that it is not forgotten.
  [[nodiscard]] static task<result<temp_file>> create(std::string directory = temp_path());
  /// With a name that nobody else has, `prefix` and sixteen letters and digits. If the process is
  /// killed, it stays.
  [[nodiscard]] static task<result<temp_file>> create_named(std::string directory = temp_path(),
                                                            std::string prefix = "skua-");

  /// `from` has none then.
  temp_file(temp_file&& from) noexcept
      : content_(std::move(from.content_)), path_(std::exchange(from.path_, {})) {}
  /// Removes the one that it has, as the destructor does. `from` has none then.
  temp_file& operator=(temp_file&& from) noexcept;
  /// Closes and removes it, which may block, as unlink(2) may; remove() does not.
  ~temp_file();

  /// `co_await temp->read_at(...)`
  [[nodiscard]] file& operator*() noexcept { return content_; }
  /// The same.
  [[nodiscard]] file* operator->() noexcept { return &content_; }

  /// Empty if it has no name.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Gives it a name that lasts, in place of whatever has that, and gives the open file.
  /// std::errc::cross_device_link if it lies on another file system: make it in a directory of the
  /// same one. Stopped or failed, it is removed.
  [[nodiscard]] task<result<file>> persist(std::string to) &&;
  /// Removes its name, if it has one, and closes it. Once begun it is not stopped.
  [[nodiscard]] task<result<void>> remove() &&;

private:
  temp_file(file content, std::string path) noexcept
      : content_(std::move(content)), path_(std::move(path)) {}
  static task<result<file>> persist_owned(temp_file self, std::string to);
  static task<result<void>> remove_owned(temp_file self);
  [[nodiscard]] task<result<void>> name_it(const std::string& to);

  file content_;
  std::string path_;
};

}  // namespace skua::inline SKUA_ABI::fs
