// bench/peers/skua/questions.cpp: how skua is asked.
#include "skua/questions.hpp"

#include <skua/runtime/run.hpp>

#include <utility>

namespace {

skua::task<std::int64_t> time_it(body what, std::uint64_t count) {
  co_await what(count);  // to warm up
  const std::int64_t begun = peers::now();
  co_await what(count);
  co_return peers::now() - begun;
}

}  // namespace

skua::runtime start_runtime(const peers::request& asked) {
  auto how = skua::runtime::builder();
  how.workers(asked.workers);
  if (asked.order == "lifo") how.order(skua::order::lifo);
  auto started = how.build();
  if (!started) skua::throw_start_error(started.error());
  return std::move(*started);
}

peers::question timed(std::string name, std::uint64_t full, std::uint64_t multiple, body what) {
  return {std::move(name), [=](const peers::request& asked) {
            const std::uint64_t count = peers::scaled(asked, full, multiple);
            skua::runtime here = start_runtime(asked);
            return peers::per_operation(here.block_on(time_it(what, count)), count);
          }};
}

std::vector<peers::question> peers::all_questions() {
  questions all;
  add_spawns(all);
  add_foreign_spawns(all);
  add_yields(all);
  add_ping_pongs(all);
  add_channels(all);
  add_locks(all);
  add_timers(all);
  add_blocking(all);
  add_trees(all);
  add_memory(all);
  add_servers(all);
  add_files(all);
  return all;
}
