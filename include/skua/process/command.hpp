// skua/process/command.hpp: a program to be started, and how.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/process/child.hpp"
#include "skua/process/exit_status.hpp"
#include "skua/process/output.hpp"
#include "skua/process/stdio.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {
class launch;
}

namespace skua::inline SKUA_ABI::process {

/// Settings, one after the other, and then a start or several:
///
///   auto sorter = or_throw(co_await command("sort").arg("-n").in(stdio::pipe()).spawn());
///
/// What is not said is as in this process: environment, working directory, standard streams, user.
/// But the program always gets no other descriptors of ours than those it is to have, an empty
/// signal mask and the default action for SIGPIPE. No shell is involved.
class [[gnu::visibility("default")]] command {
public:
  /// A path, if there is a slash in it; a relative one begins in directory(). Otherwise it is
  /// looked for in PATH, as the program will have it.
  explicit command(std::string program) : program_(std::move(program)) {}

  /// One more argument, as the program gets it: no shell takes it apart.
  command& arg(std::string one) {
    arguments_.push_back(std::move(one));
    return *this;
  }
  /// Those of any range of strings.
  template <typename Range>
  command& args(const Range& several) {
    for (const auto& one : several) arg(std::string(one));
    return *this;
  }

  /// Sets a variable of the environment, or takes it out. The rest is that of this process when the
  /// program is started (nobody calls setenv() meanwhile), or nothing after env_clear().
  command& env(std::string name, std::string value) {
    changes_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// The program does not get this variable.
  command& env_remove(std::string name) {
    changes_.emplace_back(std::move(name), std::nullopt);
    return *this;
  }
  /// Takes out all variables, also those that were set before.
  command& env_clear() noexcept {
    changes_.clear();
    env_is_empty_ = true;
    return *this;
  }

  /// The working directory. Entered as the user that the program runs as.
  command& directory(std::string path) noexcept { return set(directory_, std::move(path)); }

  /// Where its standard input comes from.
  command& in(stdio from) noexcept { return set(streams_[0], std::move(from)); }
  /// Where its standard output goes to.
  command& out(stdio to) noexcept { return set(streams_[1], std::move(to)); }
  /// Where its standard error goes to.
  command& err(stdio to) noexcept { return set(streams_[2], std::move(to)); }

  /// The program gets this descriptor as its number `as`, above the standard streams. Closed here
  /// as soon as a child has it: good for one start.
  command& give(unique_fd fd, int as);
  /// It also gets every descriptor of this process that has no O_CLOEXEC.
  command& keep_descriptors(bool yes = true) noexcept { return set(keeps_descriptors_, yes); }

  /// Whether to kill the child when its object is dropped: true unless told otherwise. A task that
  /// is stopped, or fails, so leaves no process behind; see child.
  command& kill_on_drop(bool yes) noexcept { return set(kills_on_drop_, yes); }

  /// A process group of its own, which child::signal_group() reaches as a whole. A terminal's
  /// Ctrl-C does not come to it.
  command& new_group() noexcept { return set(group_, pid_t{0}); }
  /// The group that this process leads.
  command& join_group(pid_t leader) noexcept { return set(group_, leader); }
  /// A session of its own, and so a group of its own, without a controlling terminal.
  command& new_session() noexcept { return set(new_session_, true); }

  /// The user that it runs as. Needs privilege, and if groups() says nothing else the program is in
  /// no supplementary group.
  command& user(uid_t id) noexcept { return set(uid_, id); }
  /// The group that it runs as. Needs privilege.
  command& group(gid_t id) noexcept { return set(gid_, id); }
  /// The supplementary groups.
  command& groups(std::vector<gid_t> all) noexcept { return set(groups_, std::move(all)); }
  /// The bits that files made by the program do not get.
  command& umask(mode_t bits) noexcept { return set(mask_, bits); }

  /// Starts the program, and suspends until it runs or has failed to: errors that occur on the way
  /// come back from here; see spawn_error.hpp for which. The command is borrowed meanwhile. Stopped
  /// before a process was made, none is; later, there is a child, and it is given.
  ///
  /// Works on a thread of the blocking pool, since execve(2) may have to wait for a disk; takes the
  /// same time for a process with much memory as for a small one. Throws std::bad_alloc, and
  /// std::logic_error outside a runtime.
  [[nodiscard]] task<result<child>> spawn();

  /// Starts it and waits for its end. Stopped: it is killed, unless kill_on_drop() said otherwise.
  [[nodiscard]] task<result<exit_status>> run();

  /// Starts it with pipes for out() and err(), unless these say otherwise, and without input unless
  /// in() or the options do; reads both at once, and gives all of it when both have ended and the
  /// program has, too. A program it has started that still has the pipes delays the end.
  ///
  /// Fails with errc::limit_exceeded, std::errc::timed_out, or the errors of spawn() and
  /// child::wait(). It is killed then, with its group if it leads one, and its end is awaited.
  /// Stopped: as run(). A program that does not read its input is no error.
  [[nodiscard]] task<result<process::output>> output(output_options with = {});

private:
  friend class skua::SKUA_ABI::launch;

  using variable = std::pair<std::string, std::optional<std::string>>;
  struct given_fd {
    unique_fd fd;
    int as;
  };

  template <typename Field, typename Value>
  command& set(Field& field, Value&& value) noexcept {
    field = std::forward<Value>(value);
    return *this;
  }

  /// With these for the streams that nothing was said about.
  [[nodiscard]] task<result<child>> spawn_with(stdio::kind in, stdio::kind out);

  std::string program_;
  std::vector<std::string> arguments_;
  std::vector<variable> changes_;
  std::string directory_;  // empty: ours
  std::optional<stdio> streams_[3];
  std::vector<given_fd> given_;
  std::optional<std::vector<gid_t>> groups_;
  std::optional<pid_t> group_;
  std::optional<uid_t> uid_;
  std::optional<gid_t> gid_;
  std::optional<mode_t> mask_;
  bool env_is_empty_ = false;
  bool keeps_descriptors_ = false;
  bool kills_on_drop_ = true;
  bool new_session_ = false;
};

}  // namespace skua::inline SKUA_ABI::process
