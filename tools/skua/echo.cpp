// tools/skua/echo.cpp: skua echo: a server that sends back what it gets.
#include "echo.hpp"

#include "echo_service.hpp"
#include "failure.hpp"
#include "seconds.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <skua/net/serve.hpp>
#include <skua/process/shutdown.hpp>

#include <utility>

namespace skua_tool {
namespace {

void say_where(const echo_settings& how, const skua::net::socket_address& at) {
  const std::string where = at.to_string();
  if (!how.json) {
    print("echo at " + where + " (" + describe(how.runtime, skua::runtime_handle::current()) +
          ")\n");
    return;
  }
  json out;
  out.field("command", "echo").field("event", "listening").field("address", where);
  put_runtime(out, how.runtime, skua::runtime_handle::current());
  print(out.text() + "\n");
}

void say_what_was(const echo_settings& how, const skua::serve_report& seen) {
  if (how.json) {
    json out;
    out.field("command", "echo").field("event", "ended");
    out.begin_object("connections")
        .field("accepted", seen.accepted)
        .field("succeeded", seen.succeeded)
        .field("failed", seen.failed)
        .field("timed_out", seen.timed_out)
        .field("stopped", seen.stopped)
        .end();
    print(out.text() + "\n");
    return;
  }
  table rows({table::side::left, table::side::right});
  rows.add({"connections", with_commas(seen.accepted)});
  rows.add({"ended well", with_commas(seen.succeeded)});
  rows.add({"failed", with_commas(seen.failed + seen.threw)});
  rows.add({"too quiet", with_commas(seen.timed_out)});
  rows.add({"cut off", with_commas(seen.stopped)});
  print(rows.text());
}

skua::task<> serve_echo(const echo_settings& how) {
  auto signal = skua::shutdown_signal();  // listens from here on
  auto listener = listen_at(how.listen);
  say_where(how, skua::or_throw(listener.local_address()));
  auto limits = skua::serve_options().max_connections(how.max_connections);
  limits.drain_time(seconds(how.drain_seconds));
  const auto ended = co_await skua::serve(
      std::move(listener), echo_service(seconds(how.idle_seconds)), limits, std::move(signal));
  if (!ended.has_value()) throw failure("cannot accept: " + ended.error().message());
  say_what_was(how, *ended);
}

}  // namespace

int run_echo(const echo_settings& how) {
  skua::runtime here = start_runtime(how.runtime);
  here.block_on(serve_echo(how));
  return 0;
}

}  // namespace skua_tool
