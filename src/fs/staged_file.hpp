// src/fs/staged_file.hpp: a file that is filled before it gets its real name.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/fs/file.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

/// The file and its name go together, or the real name is taken.
class staged_file {
public:
  /// Makes one in the directory of `target`, open to read and write. A stop waits for its end.
  [[nodiscard]] static task<result<staged_file>> make(const std::string& target,
                                                      std::uint32_t mode);

  staged_file(staged_file&& from) noexcept
      : content(std::move(from.content)), path_(std::exchange(from.path_, {})) {}
  staged_file& operator=(staged_file&&) = delete;
  /// The last resort: blocks. end() leaves nothing to do here.
  ~staged_file();

  /// The real name, from now on. `replace`: whatever has it; otherwise std::errc::file_exists.
  [[nodiscard]] task<result<void>> commit(const std::string& target, bool replace);
  /// Removes it, unless it was committed; whether or not the task is to stop.
  [[nodiscard]] task<> discard();

  file content;

private:
  staged_file(file made, std::string path) noexcept
      : content(std::move(made)), path_(std::move(path)) {}

  std::string path_;  // empty: it has its real name, or none
};

/// What `filling` gives; without success, the file is gone. `filling` commits.
template <typename T>
task<result<T>> fill_or_discard(staged_file& staged, task<result<T>> filling) {
  outcome<result<T>> how = co_await as_outcome(std::move(filling));
  co_await staged.discard();
  if (how.stopped()) co_await yield();  // which unwinds
  co_return std::move(how).value();
}

/// What the directory of `path` knows is on the device.
[[nodiscard]] task<result<void>> sync_directory_of(const std::string& path);

}  // namespace skua::inline SKUA_ABI::fs
