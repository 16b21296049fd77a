// src/net/resolver.cpp: the public face of resolver_state.
#include "skua/net/resolver.hpp"

#include "net/dns_backend.hpp"
#include "net/resolver_state.hpp"

#include <memory>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::net {

resolver::resolver() : resolver(resolver_options()) {}

resolver::resolver(resolver_options options)
    : resolver(options, make_dns_backend(options).release()) {}

resolver::resolver(resolver_options options, dns_backend* backend) {
  std::unique_ptr<dns_backend> owned(backend);
  state_ = std::make_unique<resolver_state>(std::move(options), std::move(owned)).release();
}

resolver::~resolver() {
  const std::unique_ptr<resolver_state> owned(state_);
}

task<result<std::vector<ip_address>>> resolver::lookup(std::string_view name, ip_family which) {
  return state_->lookup(std::string(name), which);
}

void resolver::forget() noexcept {
  state_->forget();
}

resolver_stats resolver::stats() const noexcept {
  return state_->stats();
}

const char* resolver::backend() const noexcept {
  return state_->backend();
}

namespace {

task<result<std::vector<ip_address>>> lookup_once(std::string name, ip_family which) {
  resolver names;
  co_return co_await names.lookup(name, which);
}

}  // namespace

task<result<std::vector<ip_address>>> lookup(std::string_view name, ip_family which) {
  return lookup_once(std::string(name), which);
}

}  // namespace skua::inline SKUA_ABI::net
