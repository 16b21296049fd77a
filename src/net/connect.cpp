// src/net/connect.cpp: each attempt has the rest beside it; the first to connect wins.
#include "skua/net/connect.hpp"

#include "io/socket_calls.hpp"
#include "net/candidates.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/race.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/io/socket.hpp"
#include "skua/net/resolver.hpp"
#include "skua/sync/auto_reset_event.hpp"
#include "skua/sync/event.hpp"
#include "skua/time/timeout.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::net {
namespace {

/// The attempts of one connect(). All its functions run in turns within one task.
class attempts {
public:
  attempts(ip_family first, const connect_options& options) noexcept
      : options_(options), to_try_(first, options.resolution_delay()) {}

  /// Asks for the addresses of one version of IP.
  task<> look_up(resolver& names, const std::string& host, std::uint16_t port, ip_family which) {
    const auto found = co_await names.lookup(host, which);
    if (found) add(*found, port);
    if (!found) note_lookup(found.error());
    close(which);
  }

  void add(const socket_address& one) { to_try_.add(one, now()); }
  void close(ip_family which) noexcept {
    to_try_.close(which);
    news_.set();
  }

  /// Tries the next address, and beside it, when its time has come, those after it. Ends when all
  /// have failed.
  task<> try_in_turn() {
    const bool more = co_await wait_for_candidate();
    if (!more) co_return;
    co_await when_all(try_one(to_try_.take()), try_the_rest());
  }

  [[nodiscard]] event::waiting connected() noexcept { return connected_.wait(); }

  result<io::descriptor> outcome() {
    if (winner_) return std::move(winner_);
    return fail(error_);
  }

private:
  void add(const std::vector<ip_address>& all, std::uint16_t port) {
    for (const ip_address& one : all) add(socket_address(one, port));
  }

  task<bool> wait_for_candidate() {
    for (;;) {
      const candidates::step next = to_try_.next(now());
      if (next != candidates::step::wait) co_return next == candidates::step::try_it;
      (void)co_await timeout_at(to_try_.wait_end(), news_.wait());
    }
  }

  task<> try_the_rest() {
    (void)co_await timeout(options_.stagger(), failed_.wait());
    co_await try_in_turn();
  }

  task<> try_one(socket_address to) {
    const std::error_code error = co_await try_connect(to);
    if (!error) co_return;
    note_attempt(error);
    failed_.set();
  }

  task<std::error_code> try_connect(const socket_address& to) {
    auto made = io::new_socket(to.family(), SOCK_STREAM, IPPROTO_TCP);
    if (!made) co_return made.error();
    io::descriptor socket(std::move(*made));
    const auto done = co_await io::connect(socket, to.data(), to.size());
    if (!done) co_return done.error();
    if (!winner_) winner_ = std::move(socket);
    connected_.set();
    co_return std::error_code();
  }

  /// It was not the other side that said so.
  static bool is_ours(const std::error_code& error) noexcept {
    return error == std::errc::network_unreachable || error == std::errc::address_not_available ||
           error == std::errc::address_family_not_supported;
  }

  void note_attempt(const std::error_code& error) noexcept {
    if (any_attempt_ && is_ours(error) && !is_ours(error_)) return;
    any_attempt_ = true;
    error_ = error;
  }

  void note_lookup(const std::error_code& error) noexcept {
    if (any_attempt_) return;
    const bool says_little = error == dns_errc::no_data || error == dns_errc::not_found;
    if (!error_ || !says_little) error_ = error;
  }

  const connect_options options_;
  candidates to_try_;
  auto_reset_event news_;    // of candidates
  auto_reset_event failed_;  // an attempt; lets the next begin
  event connected_;
  io::descriptor winner_;
  std::error_code error_;  // of the lookups, until there was an attempt
  bool any_attempt_ = false;
};

/// Whichever ends first, a connection or all attempts; the rest is stopped and awaited.
task<result<io::descriptor>> run(attempts& all, task<> lookups) {
  (void)co_await race(all.connected(), when_all(std::move(lookups), all.try_in_turn()));
  co_return all.outcome();
}

task<> nothing() {
  co_return;
}

task<> look_up_both(attempts& all, resolver& names, std::string host, std::uint16_t port) {
  (void)co_await when_all(all.look_up(names, host, port, ip_family::v6),
                          all.look_up(names, host, port, ip_family::v4));
}

task<result<io::descriptor>> connect_by(resolver& names, std::string host, std::uint16_t port,
                                        connect_options options) {
  attempts all(ip_family::v6, options);
  co_return co_await run(all, look_up_both(all, names, std::move(host), port));
}

task<result<io::descriptor>> connect_once(std::string host, std::uint16_t port,
                                          connect_options options) {
  resolver names;
  co_return co_await connect_by(names, std::move(host), port, options);
}

}  // namespace

task<result<io::descriptor>> connect(resolver& names, std::string_view host, std::uint16_t port,
                                     connect_options options) {
  return connect_by(names, std::string(host), port, options);
}

task<result<io::descriptor>> connect(std::string_view host, std::uint16_t port,
                                     connect_options options) {
  return connect_once(std::string(host), port, options);
}

task<result<io::descriptor>> connect_to_any(std::vector<socket_address> addresses,
                                            connect_options options) {
  const bool usable = !addresses.empty() && std::ranges::all_of(addresses, &socket_address::is_ip);
  if (!usable) co_return fail(std::errc::invalid_argument);
  ip_family first = ip_family::v4;
  if (addresses.front().ip().is_v6()) first = ip_family::v6;
  attempts all(first, options);
  for (const socket_address& one : addresses) all.add(one);
  all.close(ip_family::v4);
  all.close(ip_family::v6);
  co_return co_await run(all, nothing());
}

}  // namespace skua::inline SKUA_ABI::net
