// src/net/resolver_state.cpp: remembered, in the hosts file, asked by another, or asked now.
#include "net/resolver_state.hpp"

#include "net/host_name.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/net/dns_error.hpp"
#include "skua/time/instant.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::net {
namespace {

bool fits(const ip_address& address, ip_family which) noexcept {
  return which == ip_family::any || address.is_v4() == (which == ip_family::v4);
}

/// There is none, as opposed to: nobody could say.
bool is_negative(const std::error_code& error) noexcept {
  return error == dns_errc::not_found || error == dns_errc::no_data;
}

/// Of two failures, the one that says more.
std::error_code worse(const std::error_code& one, const std::error_code& other) noexcept {
  if (!is_negative(one)) return one;
  if (!is_negative(other)) return other;
  return one == dns_errc::no_data ? one : other;  // the name exists, at least
}

}  // namespace

resolver_state::resolver_state(resolver_options options, std::unique_ptr<dns_backend> backend)
    : options_(std::move(options)),
      backend_(std::move(backend)),
      hosts_(options_.hosts_file()),
      queries_(options_.queries_at_once()),
      cache_(options_.cache_entries()) {}

resolver_state::~resolver_state() {
  check(users_ == 0, "a resolver outlives its lookups");
}

task<found_addresses> resolver_state::lookup(std::string name, ip_family which) {
  const auto numeric = ip_address::parse(name);
  if (numeric) {
    if (!fits(*numeric, which)) co_return fail(dns_errc::no_data);
    co_return std::vector<ip_address>(1, *numeric);
  }
  if (numeric.error() != std::errc::invalid_argument) co_return fail(numeric.error());
  if (!is_host_name(name)) co_return fail(dns_errc::bad_name);
  std::string lower = lower_case(name);
  if (which == ip_family::any) co_return co_await ask_both(std::move(lower));
  co_return co_await ask(dns_key(std::move(lower), which));
}

task<found_addresses> resolver_state::ask_both(std::string name) {
  auto both =
      co_await when_all(ask(dns_key(name, ip_family::v6)), ask(dns_key(name, ip_family::v4)));
  auto& [v6, v4] = both;
  if (!v6 && !v4) co_return fail(worse(v6.error(), v4.error()));
  if (!v6) co_return std::move(v4);
  if (v4) v6->insert(v6->end(), v4->begin(), v4->end());
  co_return std::move(v6);
}

task<found_addresses> resolver_state::ask(dns_key key) {
  std::optional<found_addresses> known;
  open_question* const joined = join_unless_known(key, known);
  if (known.has_value()) co_return std::move(*known);
  const seat mine(*this, *joined);
  const auto turn = co_await (*mine).turn.lock();
  if (!(*mine).answer) co_await find_out(*mine);
  co_return *(*mine).answer;  // NOLINT(bugprone-unchecked-optional-access): it is there now
}

task<> resolver_state::find_out(open_question& what) {
  if (what.query == nullptr) {
    what.permit.release();  // that of one who could not begin
    auto here = co_await find_here(what.key);
    if (here) {
      answer(what, std::move(*here), options_.unknown_ttl());
      co_return;
    }
    auto permit = co_await queries_.acquire();
    what.permit = std::move(*permit);  // never closed
    what.query = backend_->ask(what.key.name, what.key.which);
    const std::lock_guard hold(lock_);
    ++stats_.queries;
  }
  auto got = co_await what.query->run();
  what.query.reset();
  what.permit.release();
  if (got) {
    answer(what, std::move(got->addresses), std::min(got->ttl, options_.longest_ttl()));
  } else {
    const bool keep = is_negative(got.error());
    answer(what, fail(got.error()), keep ? options_.negative_ttl() : time_span());
  }
}

/// What is known without a server.
task<std::optional<found_addresses>> resolver_state::find_here(const dns_key& key) {
  auto listed = co_await hosts_.find(key.name, key.which);
  if (listed && listed->empty()) co_return fail(dns_errc::no_data);
  if (listed) co_return std::move(*listed);
  if (!is_localhost(key.name)) co_return std::nullopt;
  std::vector<ip_address> loopback(1, ip_address::v6_loopback());
  if (key.which == ip_family::v4) loopback.front() = ip_address::v4_loopback();
  co_return loopback;
}

void resolver_state::answer(open_question& what, found_addresses with, time_span ttl) {
  const std::lock_guard hold(lock_);
  what.answer = std::move(with);
  what.listed = false;  // who comes now asks anew, if it is not remembered
  open_.erase(what.key);
  const instant begin = now();
  cache_.put(what.key, *what.answer, begin, begin + ttl);
}

open_question* resolver_state::join_unless_known(const dns_key& key,
                                                 std::optional<found_addresses>& known) {
  const std::lock_guard hold(lock_);
  known = cache_.find(key, now());
  if (known) {
    ++stats_.cached;
    return nullptr;
  }
  open_question* what = nullptr;
  if (const auto open = open_.find(key); open != open_.end()) {
    what = open->second;
    ++stats_.shared;
  } else {
    auto made = std::make_unique<open_question>(key);
    open_.emplace(key, made.get());
    what = made.release();  // its users'
  }
  ++what->users;
  ++users_;
  return what;
}

void resolver_state::leave(open_question& what) noexcept {
  std::unique_ptr<open_question> last;  // destroyed outside the lock: that closes sockets
  const std::lock_guard hold(lock_);
  --users_;
  if (--what.users > 0) return;
  last.reset(&what);
  if (what.listed) open_.erase(what.key);
}

void resolver_state::forget() noexcept {
  backend_->reload();
  const std::lock_guard hold(lock_);
  cache_.clear();
}

resolver_stats resolver_state::stats() noexcept {
  const std::lock_guard hold(lock_);
  resolver_stats now_is = stats_;
  now_is.remembered = cache_.size();
  return now_is;
}

}  // namespace skua::inline SKUA_ABI::net
