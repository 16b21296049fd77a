// src/net/bind_for_each_worker.cpp: bind the first, then the others to its port.
#include "skua/net/bind_for_each_worker.hpp"

#include "skua/base/error.hpp"
#include "skua/runtime/this_worker.hpp"

#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI::net {

result<std::vector<tcp_listener>> bind_for_each_worker(const socket_address& at,
                                                       listen_options how) {
  const std::size_t count = worker_count();
  how.reuse_port(true);
  std::vector<tcp_listener> all;
  all.reserve(count);
  socket_address where = at;
  while (all.size() < count) {
    auto next = tcp_listener::bind(where, how);
    if (!next) return fail(next.error());
    all.push_back(std::move(*next));
    if (all.size() > 1) continue;
    const result<socket_address> chosen = all.front().local_address();
    if (!chosen) return fail(chosen.error());
    where = at.with_port(chosen->port());
  }
  return all;
}

result<std::vector<tcp_listener>> bind_for_each_worker(std::string_view at, listen_options how) {
  const result<socket_address> parsed = socket_address::parse(at);
  if (!parsed) return fail(parsed.error());
  return bind_for_each_worker(*parsed, how);
}

}  // namespace skua::inline SKUA_ABI::net
