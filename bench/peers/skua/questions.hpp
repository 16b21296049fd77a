// bench/peers/skua/questions.hpp: how skua is asked.
#pragma once

#include "common/protocol.hpp"

#include <skua/coro/task.hpp>
#include <skua/runtime/runtime.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The workers and the order that were asked for, and otherwise the defaults.
[[nodiscard]] skua::runtime start_runtime(const peers::request& asked);

/// Does something so many times, and checks what came of it.
using body = skua::task<> (*)(std::uint64_t count);

/// A body, by a task, first to warm up and then by the clock.
[[nodiscard]] peers::question timed(std::string name, std::uint64_t full, std::uint64_t multiple,
                                    body what);

using questions = std::vector<peers::question>;
void add_spawns(questions& to);
void add_foreign_spawns(questions& to);
void add_yields(questions& to);
void add_ping_pongs(questions& to);
void add_channels(questions& to);
void add_locks(questions& to);
void add_timers(questions& to);
void add_blocking(questions& to);
void add_trees(questions& to);
void add_memory(questions& to);
void add_servers(questions& to);
void add_files(questions& to);
