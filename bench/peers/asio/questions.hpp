// bench/peers/asio/questions.hpp: how Asio is asked.
#pragma once

#include "common/protocol.hpp"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Runs a coroutine on an io_context that so many threads run, until it has ended.
void run_on_workers(std::size_t workers, const std::function<asio::awaitable<void>()>& root);

/// Does something so many times, and checks what came of it.
using body = asio::awaitable<void> (*)(std::uint64_t count);

/// A body, by a coroutine, first to warm up and then by the clock.
[[nodiscard]] peers::question timed(std::string name, std::uint64_t full, std::uint64_t multiple,
                                    body what);

using questions = std::vector<peers::question>;
void add_spawns(questions& to);
void add_yields(questions& to);
void add_channels(questions& to);
void add_timers(questions& to);
void add_trees(questions& to);
void add_memory(questions& to);
void add_servers(questions& to);
