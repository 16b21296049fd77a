// skua/net/readiness.hpp: waits at a descriptor that somebody else reads and writes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/io_operation.hpp"

#include <cstdint>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// For libraries that bring a descriptor and do the calls themselves (a database client, libcurl,
/// an inotify, a device):
///
///   net::readiness at = net::readiness::borrow(PQsocket(db));
///   co_await or_return(co_await at.readable());
///   PQconsumeInput(db);
///
/// Each wait gives a result<std::uint32_t>: the bits of poll(2) that hold, POLLERR and POLLHUP
/// among them though nobody asks for these; they are a hint, and the call after it may still find
/// nothing, so the descriptor should have O_NONBLOCK. What holds already is given at once, however
/// often it is asked (level, not edge). Any number of tasks may wait; a stop takes nothing from
/// anybody. Errors: bad_file_descriptor. A file of a disk is always ready.
class [[gnu::visibility("default")]] readiness {
public:
  /// The number stays open, and stays the same file, while a wait is under way: end the wait before
  /// the library closes it.
  [[nodiscard]] static readiness borrow(int fd) noexcept { return readiness(fd, unique_fd()); }
  /// Closes it at the end. Dropping or moving it while a wait is under way is checked.
  [[nodiscard]] static readiness own(unique_fd fd) noexcept { return {none, std::move(fd)}; }

  /// Until something can be read, or the other side has ended or failed. Gives the events: POLL* of
  /// poll(2).
  [[nodiscard]] io_operation<std::uint32_t> readable() const noexcept;
  /// Until something can be written, or the other side has ended or failed. Gives the events
  /// likewise.
  [[nodiscard]] io_operation<std::uint32_t> writable() const noexcept;
  /// `events`: POLL* of poll(2).
  [[nodiscard]] io_operation<std::uint32_t> wait(std::uint32_t events) const noexcept;

  /// The raw number, owned or borrowed.
  [[nodiscard]] int get() const noexcept { return owned_ ? owned_.get() : number_; }
  /// Gives the descriptor away if it is owned; empty otherwise.
  [[nodiscard]] unique_fd release() noexcept { return owned_.release(); }

private:
  readiness(int number, unique_fd owned) noexcept : number_(number), owned_(std::move(owned)) {}

  static constexpr int none = -1;

  int number_;  // if it is borrowed
  io::descriptor owned_;
};

}  // namespace skua::inline SKUA_ABI::net
