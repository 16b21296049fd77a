// tools/skua/load_generator.hpp: many connections that ask an echo server, and what came of it.
#pragma once

#include "json.hpp"
#include "latencies.hpp"
#include "load_connection.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <skua/coro/task.hpp>
#include <skua/net/socket_address.hpp>
#include <skua/runtime/scope.hpp>
#include <skua/sync/cancel_token.hpp>
#include <skua/time/instant.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace skua_tool {

struct load_plan {
  std::size_t connections = 16;
  std::size_t depth = 1;
  std::size_t size = 64;
  double rate = 0;  // messages a second of all connections together; 0: closed loop
};

struct load_report {
  double seconds = 0;
  std::uint64_t sent = 0;
  std::uint64_t unsent = 0;
  std::uint64_t unanswered = 0;
  std::uint64_t broken = 0;  // connections
  std::string first_error;   // of one of them
  latency_counts answers;

  [[nodiscard]] std::uint64_t answered() const noexcept { return answers.count(); }
  [[nodiscard]] double rate() const noexcept {
    return seconds > 0 ? static_cast<double>(answered()) / seconds : 0;
  }
};

class load_generator {
public:
  explicit load_generator(const load_plan& plan);

  /// All connections, a few at a time. Throws a failure if one cannot be made.
  skua::task<> connect(skua::net::socket_address target);
  /// After connect(); once. Sends until `end`, and waits for the last answers.
  skua::task<> run(skua::cancel_token end);

  /// So far; by anybody while run() goes on, and then without `unanswered` and what follows from
  /// broken connections.
  [[nodiscard]] load_report so_far() const;
  /// When run() has ended.
  [[nodiscard]] load_report report() const;

private:
  skua::task<> lose_patience(skua::cancel_token end);
  [[nodiscard]] load_shape shape() const;
  skua::task<> connect_one(skua::net::socket_address target);
  static skua::task<> run_all(skua::scope& children, load_generator& self, skua::cancel_token end);

  const load_plan plan_;
  std::vector<std::byte> message_;
  // One for as many connections as a worker has, so that workers seldom meet.
  std::vector<std::unique_ptr<latencies>> times_;
  std::vector<std::unique_ptr<load_connection>> connections_;
  skua::instant begun_;
  skua::instant told_to_end_;  // of messages that go in turn; else connections know it
};

/// One line about a run that goes on: `12,345/s  p50 80.0 us  p99 120 us`.
[[nodiscard]] std::string progress_text(const load_report& seen);
/// Rows for a table of two columns.
void add_rows(table& to, const load_plan& plan, const load_report& seen);
/// An object named "load".
void put_load(json& out, const load_plan& plan, const load_report& seen);

}  // namespace skua_tool
