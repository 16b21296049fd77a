// examples/redis/commands.hpp: what each command does.
#pragma once

#include "hub.hpp"
#include "reply.hpp"
#include "resp.hpp"
#include "store.hpp"

#include <skua/time/instant.hpp>

namespace redis {

// A command and all that it may touch.
struct call {
  const redis::words& words;  // the name is the first
  store& keys;
  hub& channels;
  hub::listener& client;
  skua::instant now;
  replies& out;
  bool quits = false;
};

// Answers it, whatever it is; an error is an answer.
void execute(call& what);

}  // namespace redis
