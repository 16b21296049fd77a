// examples/redis/commands.cpp: the table of commands, and those that are not about keys.
#include "commands.hpp"

#include "key_commands.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace redis {
namespace {

void ping(call& what) {
  const std::string_view text = what.words.size() > 1 ? what.words[1] : std::string_view();
  if (what.client.is_subscribed()) {  // an answer that cannot be taken for a message
    what.out.array(2);
    what.out.bulk("pong");
    what.out.bulk(text);
  } else if (what.words.size() > 1) {
    what.out.bulk(text);
  } else {
    what.out.simple("PONG");
  }
}

void echo(call& what) {
  what.out.bulk(what.words[1]);
}

void quit(call& what) {
  what.out.simple("OK");
  what.quits = true;
}

void publish(call& what) {
  what.out.number(static_cast<std::int64_t>(what.channels.publish(what.words[1], what.words[2])));
}

void tell_subscription(call& what, std::string_view kind, std::string_view channel) {
  what.out.array(3);
  what.out.bulk(kind);
  what.out.bulk(channel);
  what.out.number(static_cast<std::int64_t>(what.client.names().size()));
}

void subscribe(call& what) {
  for (std::size_t i = 1; i < what.words.size(); ++i) {
    what.client.subscribe(what.words[i]);
    tell_subscription(what, "subscribe", what.words[i]);
  }
}

// What was published before comes before the answer.
void unsubscribe(call& what) {
  std::vector<std::string> names(what.words.begin() + 1, what.words.end());
  if (names.empty()) names.assign(what.client.names().begin(), what.client.names().end());
  for (const std::string& name : names) {
    what.client.unsubscribe(name);
    what.client.take_messages(what.out);
    tell_subscription(what, "unsubscribe", name);
  }
  if (!names.empty()) return;
  what.out.array(3);
  what.out.bulk("unsubscribe");
  what.out.none();
  what.out.number(0);
}

// --- what clients ask at their start, and can do without

void describe_commands(call& what) {
  what.out.array(0);
}

void config(call& what) {
  if (!is(what.words[1], "get")) return what.out.error("ERR nothing can be configured");
  what.out.array(2);
  what.out.bulk(what.words[2]);
  what.out.bulk("");
}

void select(call& what) {
  if (what.words[1] != "0") return what.out.error("ERR DB index is out of range");
  what.out.simple("OK");
}

void hello(call& what) {
  what.out.error("NOPROTO unsupported protocol version");
}

constexpr std::size_t any = static_cast<std::size_t>(-1);

struct command {
  std::string_view name;
  std::size_t least;  // words behind the name
  std::size_t most;
  void (*run)(call&);
  bool while_subscribed = false;
};

constexpr command table[] = {
    {"get", 1, 1, get},
    {"set", 2, any, set},
    {"incr", 1, 1, incr},
    {"ping", 0, 1, ping, true},
    {"del", 1, any, del},
    {"exists", 1, any, exists},
    {"expire", 2, 2, expire},
    {"ttl", 1, 1, ttl},
    {"dbsize", 0, 0, dbsize},
    {"echo", 1, 1, echo},
    {"publish", 2, 2, publish},
    {"subscribe", 1, any, subscribe, true},
    {"unsubscribe", 0, any, unsubscribe, true},
    {"quit", 0, any, quit, true},
    {"command", 0, any, describe_commands},
    {"config", 2, any, config},
    {"select", 1, 1, select},
    {"hello", 0, any, hello},
};

}  // namespace

void execute(call& what) {
  const std::string_view name = what.words[0];
  const auto* const found =
      std::ranges::find_if(table, [name](const command& one) { return is(name, one.name); });
  if (found == std::end(table))
    return what.out.error("ERR unknown command '" + std::string(name.substr(0, 128)) + "'");
  const std::size_t count = what.words.size() - 1;
  if (count < found->least || count > found->most)
    return what.out.error("ERR wrong number of arguments for '" + std::string(found->name) +
                          "' command");
  if (what.client.is_subscribed() && !found->while_subscribed)
    return what.out.error("ERR Can't execute '" + std::string(found->name) +
                          "': only SUBSCRIBE / UNSUBSCRIBE / PING / QUIT are allowed here");
  found->run(what);
}

}  // namespace redis
