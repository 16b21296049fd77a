// examples/redis/session.hpp: one client's connection.
#pragma once

#include "hub.hpp"
#include "reply.hpp"
#include "resp.hpp"
#include "store.hpp"

#include <skua/base/result.hpp>
#include <skua/coro/task.hpp>
#include <skua/io/buffered_reader.hpp>
#include <skua/net/tcp_stream.hpp>
#include <skua/sync/cancel_token.hpp>
#include <skua/sync/guarded.hpp>

#include <cstddef>
#include <utility>

namespace redis {

// What all sessions share.
struct database {
  skua::guarded<store> keys;
  hub channels;
};

// Reads what there is, executes every whole command of it, writes all answers at once, and so on.
class session {
public:
  session(skua::net::tcp_stream peer, database& shared)
      : peer_(std::move(peer)), shared_(shared), client_(shared.channels) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // Until the client has gone, or breaks the protocol, or the server is closing.
  skua::task<skua::result<void>> run(skua::cancel_token closing);

private:
  skua::task<> wait_for_news(skua::cancel_token closing);
  void execute_all(store& keys);
  skua::task<skua::result<void>> write_replies();
  skua::task<skua::result<void>> part();

  skua::net::tcp_stream peer_;
  database& shared_;
  hub::listener client_;
  skua::io::buffered_reader<skua::net::tcp_stream&> input_{peer_};
  replies output_;
  words found_;
  std::size_t needed_ = 1;  // so many bytes for the next command, as far as we know
  bool over_ = false;
};

// The handler of a connection.
skua::task<skua::result<void>> talk(skua::net::tcp_stream peer, skua::cancel_token closing,
                                    database& shared);

}  // namespace redis
