// src/net/getaddrinfo_backend.cpp: questions to the C library, on threads of the blocking pool.
#include "net/dns_backend.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/net/dns_error.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <optional>

namespace skua::inline SKUA_ABI::net {
namespace {

using addresses = std::vector<ip_address>;

dns_errc meaning_of(int eai) noexcept {
  switch (eai) {
    case EAI_NONAME:
      return dns_errc::not_found;
    case -5:  // EAI_NODATA, which POSIX has not
    case -9:  // EAI_ADDRFAMILY, likewise
      return dns_errc::no_data;
    default:  // EAI_AGAIN above all, which does not tell whether anybody answered
      return dns_errc::server_failure;
  }
}

/// Blocks.
result<addresses> ask_library(const std::string& name, ip_family which) {
  addrinfo hints{};
  hints.ai_family = which == ip_family::v4 ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_STREAM;  // or each address would come three times
  addrinfo* list = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (error == EAI_MEMORY) return fail(std::errc::not_enough_memory);
  if (error != 0) return fail(meaning_of(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  addresses found;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next)
    if (const auto place = socket_address::of(one->ai_addr, one->ai_addrlen))
      found.push_back(place->ip());
  if (found.empty()) return fail(dns_errc::no_data);
  return found;
}

/// The call runs in a task of its own, which knows nothing of us: it cannot be interrupted, and
/// nobody who is stopped should have to wait for it.
class getaddrinfo_query final : public dns_query {
public:
  getaddrinfo_query(std::string name, ip_family which, time_span ttl)
      : name_(std::move(name)), which_(which), ttl_(ttl) {}

  task<result<dns_answer>> run() override {
    outcome<result<addresses>> end = co_await call();
    if (end.stopped()) end = co_await call();  // in another runtime, which has ended; not ours
    if (end.stopped()) co_return fail(std::errc::operation_canceled);
    result<addresses> found = std::move(end).value();
    if (!found) co_return fail(found.error());
    co_return dns_answer(std::move(*found), ttl_);
  }

private:
  task<outcome<result<addresses>>> call() {
    if (!call_ || !call_->valid())  // or a task was stopped with the outcome in hand
      call_.emplace(spawn_background(spawn_blocking(ask_library, name_, which_)));
    co_await call_->wait();
    outcome<result<addresses>> end = co_await call_->outcome();
    call_.reset();
    co_return end;
  }

  const std::string name_;
  const ip_family which_;
  const time_span ttl_;
  std::optional<join_handle<result<addresses>>> call_;
};

class getaddrinfo_backend final : public dns_backend {
public:
  explicit getaddrinfo_backend(const resolver_options& options)
      : ttl_(options.unknown_ttl()), can_ask_(options.servers().empty()) {}

  std::unique_ptr<dns_query> ask(const std::string& name, ip_family which) override;
  void reload() noexcept override {}  // the library sees for itself
  [[nodiscard]] const char* name() const noexcept override { return "getaddrinfo"; }

private:
  const time_span ttl_;
  const bool can_ask_;
};

/// For servers that the library cannot be told of.
class refused_query final : public dns_query {
public:
  task<result<dns_answer>> run() override { co_return fail(std::errc::operation_not_supported); }
};

std::unique_ptr<dns_query> getaddrinfo_backend::ask(const std::string& name, ip_family which) {
  if (!can_ask_) return std::make_unique<refused_query>();
  return std::make_unique<getaddrinfo_query>(name, which, ttl_);
}

}  // namespace

std::unique_ptr<dns_backend> make_getaddrinfo_backend(const resolver_options& options) {
  return std::make_unique<getaddrinfo_backend>(options);
}

}  // namespace skua::inline SKUA_ABI::net
