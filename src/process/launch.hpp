// src/process/launch.hpp: one start of a program: from a command to a process.
#pragma once

#include "driver/start_process.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/process/command.hpp"

#include <array>
#include <string>
#include <vector>

namespace skua::inline SKUA_ABI {

/// Lives in the task that starts the program. prepare() there, run() on a thread that may block.
class launch {
public:
  launch(process::command& what, process::stdio::kind in, process::stdio::kind out) noexcept
      : of_(what), usual_{in, out, out} {}

  /// Makes texts of everything. Throws std::bad_alloc.
  [[nodiscard]] result<void> prepare();
  /// Opens what is to be opened, and starts it.
  [[nodiscard]] result<void> run();

  started_process made;
  std::array<unique_fd, 3> ends;  // of pipes: ours

private:
  [[nodiscard]] result<void> list_environment();
  void list_candidates();
  [[nodiscard]] std::string search_path() const;
  [[nodiscard]] process::stdio::kind kind_of(std::size_t stream) const noexcept;
  [[nodiscard]] result<void> open_stream(std::size_t stream);
  [[nodiscard]] result<void> make_pipe(std::size_t stream);
  [[nodiscard]] result<void> open_file(std::size_t stream, const char* path, int flags);
  void fill(process_plan& plan) const noexcept;

  process::command& of_;
  const std::array<process::stdio::kind, 3> usual_;

  std::vector<std::string> variables_;
  std::vector<std::string> paths_;
  std::vector<char*> arguments_;  // ends with null, as the next
  std::vector<char*> environment_;
  std::vector<const char*> candidates_;
  std::array<unique_fd, 3> opened_;  // the child's, for as long as we have them
  std::vector<process_plan::descriptor> descriptors_;
};

}  // namespace skua::inline SKUA_ABI
