// tools/skua/demo.cpp: skua demo: a service and its clients in one process.
#include "demo.hpp"

#include "echo_service.hpp"
#include "failure.hpp"
#include "load_session.hpp"
#include "seconds.hpp"

#include <skua/net/serve.hpp>
#include <skua/process/shutdown.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace skua_tool {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t workers_shown = 8;

struct demo_result {
  load_report load;
  std::uint64_t served = 0;
};

std::string headline(const demo_settings& how, const skua::runtime_handle& here) {
  return "skua demo: echo on " + describe(how.runtime, here) + "\n";
}

skua::task<> be_clients(skua::net::socket_address server, load_generator& load,
                        session_limits limits, bool shows_progress) {
  co_await load.connect(server);
  progress_line line(shows_progress);
  co_await run_session(load, std::move(limits), line, true);
}

skua::task<demo_result> serve_and_ask(const demo_settings& how) {
  auto signal = skua::shutdown_signal();  // listens from here on
  if (!how.json) print(headline(how, skua::runtime_handle::current()));
  auto listener = listen_at("127.0.0.1:0");
  const auto at = skua::or_throw(listener.local_address());
  load_generator load(how.load);
  session_limits limits(seconds(how.seconds), std::move(signal));
  const bool shows_progress = !how.json && terminal::of_stdout().interactive;
  auto clients = be_clients(at, load, std::move(limits), shows_progress);
  // The clients are still connected when they have ended: nothing to wait for.
  const auto options = skua::serve_options().drain_time(0s);
  const auto served = skua::or_throw(
      co_await skua::serve(std::move(listener), echo_service(60s), options, std::move(clients)));
  demo_result ended;
  ended.load = load.report();
  ended.served = served.accepted;
  co_return ended;
}

void print_table(const demo_settings& how, const demo_result& ended,
                 const skua::metrics_snapshot& seen) {
  table rows({table::side::left, table::side::left});
  add_rows(rows, how.load, ended.load);
  rows.add({"tasks", with_commas(seen.spawned) + " spawned, " + with_commas(seen.live) + " left"});
  const std::size_t shown = std::min(seen.workers.size(), workers_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const skua::worker_metrics& one = seen.workers[i];
    rows.add({"worker " + std::to_string(i), with_commas(one.polls) + " turns, " +
                                                 with_commas(one.steals) + " steals, " +
                                                 with_commas(one.parks) + " sleeps"});
  }
  if (shown < seen.workers.size()) rows.add({"...", "--json tells of all workers"});
  print(rows.text());
}

void print_json(const demo_settings& how, const demo_result& ended, const skua::runtime& here) {
  const skua::metrics_snapshot seen = here.metrics();
  json out;
  out.field("command", "demo");
  put_runtime(out, how.runtime, here.get_handle());
  put_load(out, how.load, ended.load);
  out.field("served_connections", ended.served);
  out.begin_object("tasks").field("spawned", seen.spawned).field("live", seen.live).end();
  out.begin_array("workers");
  for (const skua::worker_metrics& one : seen.workers)
    out.begin_object()
        .field("polls", one.polls)
        .field("steals", one.steals)
        .field("parks", one.parks)
        .end();
  out.end();
  print(out.text() + "\n");
}

}  // namespace

int run_demo(const demo_settings& how) {
  skua::runtime here = start_runtime(how.runtime);
  const demo_result ended = here.block_on(serve_and_ask(how));
  if (how.json)
    print_json(how, ended, here);
  else
    print_table(how, ended, here.metrics());
  return ended.load.broken == 0 ? 0 : 1;
}

}  // namespace skua_tool
