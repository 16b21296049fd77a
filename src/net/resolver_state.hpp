// src/net/resolver_state.hpp: what a resolver remembers, and what it is asking for.
#pragma once

#include "net/dns_backend.hpp"
#include "net/dns_cache.hpp"
#include "net/hosts_file.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/resolver_options.hpp"
#include "skua/net/resolver_stats.hpp"
#include "skua/sync/mutex.hpp"
#include "skua/sync/semaphore.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace skua::inline SKUA_ABI::net {

/// One question that is open, and all who want to know. Who holds `turn` works on it, for all: the
/// others wait for the mutex, and find the answer. If that task is stopped, the next one goes on
/// with the same query.
struct open_question {
  explicit open_question(const dns_key& what) : key(what) {}

  const dns_key key;
  std::size_t users = 0;  // under the resolver's lock: the last one to leave destroys this
  bool listed = true;     // under the resolver's lock: others may join

  mutex turn;
  semaphore::permit permit;  // by the holder of `turn`, as all below; outlives the query
  std::unique_ptr<dns_query> query;
  std::optional<found_addresses> answer;
};

class resolver_state {
public:
  resolver_state(resolver_options options, std::unique_ptr<dns_backend> backend);
  resolver_state(const resolver_state&) = delete;
  resolver_state& operator=(const resolver_state&) = delete;
  ~resolver_state();

  task<found_addresses> lookup(std::string name, ip_family which);
  void forget() noexcept;
  [[nodiscard]] resolver_stats stats() noexcept;
  [[nodiscard]] const char* backend() const noexcept { return backend_->name(); }

private:
  /// One task's part in an open question.
  class seat {
  public:
    seat(resolver_state& at, open_question& what) noexcept : at_(at), what_(what) {}
    seat(const seat&) = delete;
    seat& operator=(const seat&) = delete;
    ~seat() { at_.leave(what_); }
    [[nodiscard]] open_question& operator*() const noexcept { return what_; }

  private:
    resolver_state& at_;
    open_question& what_;
  };

  task<found_addresses> ask_both(std::string name);
  task<found_addresses> ask(dns_key key);
  /// Works on it until it is answered. By who holds its turn.
  task<> find_out(open_question& what);
  task<std::optional<found_addresses>> find_here(const dns_key& key);
  void answer(open_question& what, found_addresses with, time_span ttl);

  /// Null if the answer is remembered, which it then is given. Otherwise counted as a user.
  open_question* join_unless_known(const dns_key& key, std::optional<found_addresses>& known);
  void leave(open_question& what) noexcept;

  const resolver_options options_;
  const std::unique_ptr<dns_backend> backend_;
  hosts_file hosts_;
  semaphore queries_;

  std::mutex lock_;  // over all below; never across a suspension
  dns_cache cache_;
  std::map<dns_key, open_question*> open_;  // those that can be joined
  std::size_t users_ = 0;                   // of all questions
  resolver_stats stats_;
};

}  // namespace skua::inline SKUA_ABI::net
