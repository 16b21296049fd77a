// bench/peers/floors/questions.hpp: what remains of a question if nothing can go wrong.
#pragma once

#include "common/protocol.hpp"

/// A ring, or epoll: one thread, until it is killed.
void serve_echo_by_uring(std::size_t buffer);
void serve_echo_by_epoll(std::size_t buffer);
/// Closes what it accepts.
void serve_close();

/// Connects, waits until the other side closes, and again: how often in a second?
[[nodiscard]] peers::answer connect_and_close(const peers::request& asked);
