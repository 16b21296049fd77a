// tools/skua/load.cpp: skua load: asks an echo server, and measures its answers.
#include "load.hpp"

#include "failure.hpp"
#include "load_session.hpp"
#include "picture.hpp"
#include "seconds.hpp"
#include "target.hpp"
#include "terminal.hpp"

#include <skua/process/shutdown.hpp>

#include <utility>

namespace skua_tool {
namespace {

std::string loop_text(const load_plan& plan) {
  if (plan.rate > 0) return "open loop at " + short_number(plan.rate) + "/s";
  return "closed loop at depth " + with_commas(plan.depth);
}

skua::task<load_report> ask(const load_settings& how, const terminal& where) {
  session_limits limits(seconds(how.seconds), skua::shutdown_signal());  // listens from here on
  const skua::net::socket_address target = co_await find_target(how.target);
  load_generator load(how.load);
  co_await load.connect(target);
  if (!how.json) print("skua load: " + target.to_string() + ", " + loop_text(how.load) + "\n");
  progress_line line(!how.json && where.interactive);
  co_await run_session(load, std::move(limits), line, false);
  co_return load.report();
}

}  // namespace

int run_load(const load_settings& how) {
  const terminal where = terminal::of_stdout();
  skua::runtime here = start_runtime(how.runtime);
  const load_report seen = here.block_on(ask(how, where));
  if (how.json) {
    json out;
    out.field("command", "load").field("target", how.target);
    put_runtime(out, how.runtime, here.get_handle());
    put_load(out, how.load, seen);
    print(out.text() + "\n");
  } else {
    table rows({table::side::left, table::side::left});
    add_rows(rows, how.load, seen);
    print(rows.text() + "\n" + picture_of(seen.answers, where));
  }
  const bool in_vain = seen.sent > 0 && seen.answered() == 0;
  return seen.broken == 0 && !in_vain ? 0 : 1;
}

}  // namespace skua_tool
