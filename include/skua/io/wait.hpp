// skua/io/wait.hpp: wait for what others do: a descriptor's readiness, a process, a word of memory.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/io_operation.hpp"

#include <csignal>
#include <cstdint>

/// See skua/io/stream.hpp for what all operations have in common. A stop always ends these.
namespace skua::inline SKUA_ABI::io {

/// Waits until one of `events` (POLLIN, POLLOUT, ...) holds, or an error or hang-up, and gives
/// those that do: for libraries that bring their own descriptors. Whatever comes of it is a hint:
/// another may have been quicker.
[[nodiscard, gnu::visibility("default")]] io_operation<std::uint32_t> poll_fd(
    fd_ref fd, std::uint32_t events) noexcept;

/// Waits for the end of a child process, by its pidfd, and takes it: `how` says how it ended.
/// `options`: WEXITED, WNOWAIT. Fails with std::errc::no_child_process if it is not our child.
[[nodiscard, gnu::visibility("default")]] io_operation<void> wait_process(fd_ref pidfd,
                                                                          siginfo_t& how,
                                                                          int options) noexcept;

/// Waits until somebody wakes those who wait at `word` (FUTEX_WAKE, FUTEX_PRIVATE_FLAG). Fails with
/// std::errc::resource_unavailable_try_again if it does not hold `expected`. Linux 5.16; before
/// 6.7, and on epoll, it occupies a thread of the blocking pool.
[[nodiscard, gnu::visibility("default")]] io_operation<void> futex_wait(
    std::uint32_t& word, std::uint32_t expected) noexcept;

}  // namespace skua::inline SKUA_ABI::io
