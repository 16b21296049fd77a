// src/net/cares_backend.cpp: questions to c-ares, whose sockets and timers the task waits for.
#include "net/cares_channel.hpp"
#include "net/dns_backend.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/race.hpp"
#include "skua/io/wait.hpp"
#include "skua/net/dns_error.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/runtime/spawn_blocking.hpp"
#include "skua/sync/mutex.hpp"
#include "skua/time/sleep.hpp"
#include "skua/time/timeout.hpp"

#include <ares.h>
#include <poll.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <new>
#include <optional>

namespace skua::inline SKUA_ABI::net {
namespace {

class cares_backend final : public dns_backend {
public:
  explicit cares_backend(const resolver_options& options) : options_(options) {}

  std::unique_ptr<dns_query> ask(const std::string& name, ip_family which) override;
  void reload() noexcept override {
    // order: none; whoever sees it late uses the former settings once more.
    outdated_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] const char* name() const noexcept override { return "c-ares"; }

  /// A channel for one question: what is sent from a socket of its own, with a port that nobody can
  /// guess, can be given up by itself and needs no lock. The settings are read once for all.
  task<result<cares_channel>> new_channel(cares_trouble& trouble) {
    const auto held = co_await reading_.lock();
    // order: none; see reload().
    const bool outdated = outdated_.exchange(false, std::memory_order_relaxed);
    if (outdated) model_.reset();  // at once: who reads the new ones may be stopped, or fail
    if (model_ == nullptr) {
      auto made = co_await spawn_blocking(open_channel, std::cref(options_));
      if (!made) co_return fail(made.error());
      model_ = std::move(*made);
    }
    co_return copy_channel(model_, trouble);
  }

private:
  const resolver_options options_;
  mutex reading_;
  cares_channel model_;  // by who holds the mutex
  std::atomic<bool> outdated_ = false;
};

/// A socket that c-ares waits for.
struct watched {
  int fd;
  std::uint32_t events;  // POLLIN, POLLOUT
};

task<result<std::uint32_t>> become_ready(watched which) {
  co_return co_await io::poll_fd(which.fd, which.events);
}

/// Which of c-ares' sockets is ready, and for what; no socket if the time was over first.
struct ready_one {
  ready_one() = default;
  ready_one(int which, std::uint32_t what) noexcept : fd(which), events(what) {}

  int fd = ARES_SOCKET_BAD;
  std::uint32_t events = 0;
};

task<result<ready_one>> any_ready(std::vector<watched> all, time_span longest) {
  ready_one none;
  if (all.empty()) {
    co_await sleep(longest);
    co_return none;
  }
  if (all.size() == 1) {  // nearly always
    const watched only = all.front();
    const auto events = co_await timeout(longest, io::poll_fd(only.fd, only.events));
    if (events) co_return ready_one(only.fd, *events);
    if (events.error() == std::errc::timed_out) co_return none;
    co_return fail(events.error());
  }
  std::vector<task<result<std::uint32_t>>> waits;
  waits.reserve(all.size());
  for (const watched& one : all) waits.push_back(become_ready(one));
  auto first = co_await timeout(longest, when_any(std::move(waits)));
  if (!first) co_return none;  // timed out
  const result<std::uint32_t> events = first->value();
  if (!events) co_return fail(events.error());
  co_return ready_one(all[first->index()].fd, *events);
}

class cares_query final : public dns_query {
public:
  cares_query(cares_backend& by, std::string name, ip_family which)
      : by_(by), name_(std::move(name)), which_(which) {}

  task<result<dns_answer>> run() override {
    if (channel_ == nullptr) {
      auto made = co_await by_.new_channel(trouble_);
      if (!made) co_return fail(made.error());
      channel_ = std::move(*made);
      begin();
    }
    while (!answer_) {
      auto ready = co_await any_ready(sockets(), time_left());
      if (!ready) co_return fail(ready.error());
      process(*ready);
    }
    co_return *answer_;
  }

private:
  void begin() noexcept {
    ares_addrinfo_hints hints{};
    hints.ai_family = which_ == ip_family::v4 ? AF_INET : AF_INET6;
    ares_getaddrinfo(channel_.get(), name_.c_str(), nullptr, &hints, answered, this);
  }

  [[nodiscard]] std::vector<watched> sockets() const {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> fds;
    const auto bits = static_cast<unsigned>(
        ares_getsock(channel_.get(), fds.data(), static_cast<int>(fds.size())));
    std::vector<watched> made;
    for (unsigned i = 0; i < fds.size(); ++i) {
      const bool reads = (bits >> i & 1U) != 0;
      const bool writes = (bits >> (i + ARES_GETSOCK_MAXNUM) & 1U) != 0;
      const std::uint32_t events = (reads ? POLLIN : 0U) | (writes ? POLLOUT : 0U);
      if (events != 0) made.push_back({fds[i], events});
    }
    return made;
  }

  /// Until c-ares wants to be called in any case. Its clock is finer than it tells, so a little
  /// more than that: never nothing.
  [[nodiscard]] time_span time_left() const noexcept {
    constexpr std::int64_t millisecond = 1'000'000;
    timeval left{1, 0};
    (void)ares_timeout(channel_.get(), &left, &left);
    return time_span::of_nanoseconds((left.tv_sec * 1000 + left.tv_usec / 1000 + 1) * millisecond);
  }

  void process(const ready_one& what) noexcept {
    const bool failed = (what.events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    const bool reads = failed || (what.events & POLLIN) != 0;
    const bool writes = failed || (what.events & POLLOUT) != 0;
    ares_process_fd(channel_.get(), reads ? what.fd : ARES_SOCKET_BAD,
                    writes ? what.fd : ARES_SOCKET_BAD);
  }

  static void answered(void* self, int status, int /*timeouts*/, ares_addrinfo* list) noexcept {
    const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owner(list,
                                                                             &ares_freeaddrinfo);
    if (status == ARES_EDESTRUCTION) return;  // nobody wants to know
    auto& query = *static_cast<cares_query*>(self);
    auto& answer = query.answer_;
    try {
      if (status != ARES_SUCCESS)
        answer.emplace(fail(error_of_cares(status, query.trouble_)));
      else
        answer.emplace(read(*list));
    } catch (const std::bad_alloc&) {
      answer.emplace(fail(std::errc::not_enough_memory));
    }
  }

  /// Holds as long as each of its parts does.
  static result<dns_answer> read(const ares_addrinfo& list) {
    std::vector<ip_address> found;
    int seconds = std::numeric_limits<int>::max();
    for (const ares_addrinfo_node* one = list.nodes; one != nullptr; one = one->ai_next) {
      const auto place = socket_address::of(one->ai_addr, one->ai_addrlen);
      if (place) found.push_back(place->ip());
      seconds = std::min(seconds, one->ai_ttl);
    }
    for (const ares_addrinfo_cname* one = list.cnames; one != nullptr; one = one->next)
      seconds = std::min(seconds, one->ttl);
    if (found.empty()) return fail(dns_errc::no_data);
    constexpr std::int64_t second = 1'000'000'000;
    return dns_answer(std::move(found), time_span::of_nanoseconds(std::max(seconds, 0) * second));
  }

  cares_backend& by_;
  const std::string name_;
  const ip_family which_;
  std::optional<result<dns_answer>> answer_;
  cares_trouble trouble_;
  cares_channel channel_;  // last: it calls back as it is destroyed
};

std::unique_ptr<dns_query> cares_backend::ask(const std::string& name, ip_family which) {
  return std::make_unique<cares_query>(*this, name, which);
}

}  // namespace

std::unique_ptr<dns_backend> make_dns_backend(const resolver_options& options) {
  return std::make_unique<cares_backend>(options);
}

}  // namespace skua::inline SKUA_ABI::net
