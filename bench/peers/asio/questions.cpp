// bench/peers/asio/questions.cpp: how Asio is asked.
#include "asio/questions.hpp"

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <exception>
#include <thread>
#include <utility>

void run_on_workers(std::size_t workers, const std::function<asio::awaitable<void>()>& root) {
  asio::io_context here(static_cast<int>(workers));
  const auto stays = asio::make_work_guard(here);
  asio::co_spawn(here, root, [&](const std::exception_ptr& failed) {
    if (failed) std::terminate();
    here.stop();
  });
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < workers; ++i) others.emplace_back([&] { here.run(); });
  here.run();
}

namespace {

asio::awaitable<void> time_it(body what, std::uint64_t count, std::int64_t& taken) {
  co_await what(count);  // to warm up
  const std::int64_t begun = peers::now();
  co_await what(count);
  taken = peers::now() - begun;
}

}  // namespace

peers::question timed(std::string name, std::uint64_t full, std::uint64_t multiple, body what) {
  return {std::move(name), [=](const peers::request& asked) {
            const std::uint64_t count = peers::scaled(asked, full, multiple);
            std::int64_t taken = 0;
            run_on_workers(asked.workers, [&] { return time_it(what, count, taken); });
            return peers::per_operation(taken, count);
          }};
}

std::vector<peers::question> peers::all_questions() {
  questions all;
  add_spawns(all);
  add_yields(all);
  add_channels(all);
  add_timers(all);
  add_trees(all);
  add_memory(all);
  add_servers(all);
  return all;
}
