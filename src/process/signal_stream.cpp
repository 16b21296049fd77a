// src/process/signal_stream.cpp: listen, and wait for what the handler tells.
#include "skua/process/signal_stream.hpp"

#include "process/signal_table.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/io/wait.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace skua::inline SKUA_ABI::signal {
namespace {

constexpr int highest = 64;

// Non-blocking.
void reset(const io::descriptor& event) noexcept {
  std::uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = ::read(event.get(), &ignored, sizeof ignored);
}

}  // namespace

result<stream> start_listening(std::initializer_list<int> signals, bool next_ends) {
  signal_bits which = 0;
  for (const int one : signals) {
    if (one < 1 || one > highest) return fail(std::errc::invalid_argument);
    which |= bit_of(one);
  }
  unique_fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return fail(error_from_errno(errno));
  const auto then = next_ends ? signal_listener::at_next::ends : signal_listener::at_next::is_told;
  stream made(*new signal_listener(std::move(event), which, then));
  const int error = signal_table::of_process().add(*made.who_);
  if (error != 0) return fail(error_from_errno(error));
  return made;
}

stream::~stream() {
  if (who_ != nullptr) signal_table::of_process().remove(*who_);
}

// The handler notes the signal first and counts then; so what was counted before a reset is noted.
task<result<int>> stream::next() {
  check(who_ != nullptr, "a stream of signals is not used after it was moved from");
  for (;;) {
    if (const int came = who_->take(); came != 0) co_return came;
    const auto ready = co_await io::poll_fd(who_->event(), POLLIN);
    if (!ready.has_value()) co_return fail(ready.error());
    reset(who_->event());
  }
}

}  // namespace skua::inline SKUA_ABI::signal
