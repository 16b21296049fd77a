// skua/process/stdio.hpp: where a standard stream of a child process comes from or goes to.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::process {

/// What command::in(), out() and err() take. Files are opened, and pipes made, when the program is
/// started, each time anew.
class stdio {
public:
  /// Which of the functions below made it.
  enum class kind : std::uint8_t {
    inherit,      ///< inherit()
    null,         ///< null()
    pipe,         ///< pipe()
    read_file,    ///< read_from()
    write_file,   ///< write_to()
    append_file,  ///< append_to()
    given,        ///< give()
    borrowed,     ///< borrow()
    same_as_out,  ///< same_as_out()
  };

  /// That of this process.
  [[nodiscard]] static stdio inherit() noexcept { return stdio(kind::inherit); }
  /// /dev/null: nothing to read, and what is written is gone.
  [[nodiscard]] static stdio null() noexcept { return stdio(kind::null); }
  /// A pipe, whose other end child::in(), out() or err() has.
  [[nodiscard]] static stdio pipe() noexcept { return stdio(kind::pipe); }

  /// A file that is there, opened for reading.
  [[nodiscard]] static stdio read_from(std::string path) {
    return stdio(kind::read_file, std::move(path));
  }
  /// Made if it is not there, and emptied if it is; mode 0666 less the umask.
  [[nodiscard]] static stdio write_to(std::string path) {
    return stdio(kind::write_file, std::move(path));
  }
  /// Made if it is not there; each write goes to its end.
  [[nodiscard]] static stdio append_to(std::string path) {
    return stdio(kind::append_file, std::move(path));
  }

  /// This one, which is closed here as soon as a child has it: good for one start. So the reader of
  /// a pipe that was given to a child sees its end when the child is gone.
  [[nodiscard]] static stdio give(unique_fd fd) noexcept { return stdio(std::move(fd)); }
  /// This one, which somebody keeps open while programs are started.
  [[nodiscard]] static stdio borrow(int fd) noexcept {
    stdio made(kind::borrowed);
    made.number_ = fd;
    return made;
  }
  /// For err() only: wherever out() goes. `2>&1`.
  [[nodiscard]] static stdio same_as_out() noexcept { return stdio(kind::same_as_out); }

  // For those who start programs.

  /// Which function made it.
  [[nodiscard]] kind which() const noexcept { return kind_; }
  /// Of read_from(), write_to() and append_to(); empty otherwise.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Of what was given or borrowed; -1 if it was given to a child before.
  [[nodiscard]] int number() const noexcept {
    return kind_ == kind::given ? given_.get() : number_;
  }
  /// A child has what was given: it is closed here.
  void was_given() noexcept { given_.reset(); }

private:
  explicit stdio(kind which, std::string path = {}) noexcept
      : kind_(which), path_(std::move(path)) {}
  explicit stdio(unique_fd fd) noexcept : kind_(kind::given), given_(std::move(fd)) {}

  kind kind_;
  int number_ = -1;
  unique_fd given_;
  std::string path_;
};

}  // namespace skua::inline SKUA_ABI::process
