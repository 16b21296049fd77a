// src/net/unix_stream.cpp: connects, and asks who is there.
#include "skua/net/unix_stream.hpp"

#include "io/socket_calls.hpp"
#include "net/unix_address.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/io/socket.hpp"
#include "skua/time/sleep.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace skua::inline SKUA_ABI::net {
namespace {

// Of waiting for room in a listener's queue, where the driver cannot.
constexpr std::int64_t first_retry_pause = 1'000'000;
constexpr std::int64_t longest_retry_pause = 64'000'000;
constexpr std::int64_t patience = 1'000'000'000;

}  // namespace

task<result<unix_stream>> unix_stream::connect(socket_address to) {
  co_await or_return(expect_unix(to));
  io::descriptor made(co_await or_return(io::new_socket(AF_UNIX, SOCK_STREAM)));
  std::int64_t waited = 0;
  for (std::int64_t pause = first_retry_pause;; pause = std::min(2 * pause, longest_retry_pause)) {
    const result<void> done = co_await io::connect(made, to.data(), to.size());
    if (done.has_value()) co_return unix_stream(std::move(made));
    const bool full = done.error() == std::errc::resource_unavailable_try_again;
    if (!full || waited >= patience) co_return fail(done.error());
    co_await sleep(time_span::of_nanoseconds(pause));
    waited += pause;
  }
}

result<std::pair<unix_stream, unix_stream>> unix_stream::pair() noexcept {
  auto made = io::new_socket_pair(SOCK_STREAM);
  if (!made) return fail(made.error());
  return std::pair(unix_stream(std::move(made->first)), unix_stream(std::move(made->second)));
}

result<unix_stream> unix_stream::from_descriptor(unique_fd fd) noexcept {
  if (const auto is = io::expect_socket(fd.get(), AF_UNIX, SOCK_STREAM); !is)
    return fail(is.error());
  if (const auto done = io::make_usual(fd.get()); !done) return fail(done.error());
  return unix_stream(std::move(fd));
}

result<peer_credentials> unix_stream::credentials() const noexcept {
  ucred who{};
  const auto got = io::get_option(get(), SOL_SOCKET, SO_PEERCRED, &who, sizeof who);
  if (!got) return fail(got.error());
  return peer_credentials{who.pid, who.uid, who.gid};
}

}  // namespace skua::inline SKUA_ABI::net
