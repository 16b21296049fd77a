// examples/chat.cpp: a chat room; who cannot keep up is told how much was missed.
#include <skua/skua.hpp>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace net = skua::net;

struct remark {
  std::string from;
  std::string text;
};

class room {
public:
  // One for each guest, whose first line is the name. Listening and talking take turns in one task.
  skua::task<skua::result<void>> guest(net::tcp_stream peer) {
    skua::framed lines(peer, skua::framing::lines(1024));
    const auto name = co_await skua::or_return(co_await lines.next());
    if (!name) co_return {};
    const std::string me(name->text());
    auto heard = said_.subscribe();
    const std::string welcome = "welcome, " + me + "\n";
    co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(welcome))));
    said_.send(remark{me, "is here"});
    co_await skua::select(talk(lines, me), listen(peer, heard, me));
    said_.send(remark{me, "has left"});
    co_return {};
  }

private:
  using receiver = skua::broadcast::receiver<remark>;

  skua::task<skua::result<void>> talk(skua::framed<net::tcp_stream>& lines, std::string me) {
    for (;;) {
      const auto line = co_await skua::or_return(co_await lines.next());
      if (!line) co_return {};
      said_.send(remark{me, std::string(line->text())});
    }
  }

  static skua::task<skua::result<void>> listen(net::tcp_stream& peer, receiver& heard,
                                               std::string me) {
    for (;;) {
      const auto got = co_await heard.receive();
      std::string line;
      if (got.has_value() && got->from != me)
        line = got->from + ": " + got->text + "\n";
      else if (got.lagged() > 0)
        line = "(" + std::to_string(got.lagged()) + " remarks missed)\n";
      co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(line))));
    }
  }

  skua::broadcast::sender<remark> said_ = skua::broadcast::channel<remark>(128).first;
};

// --- two guests

class visitor {
public:
  explicit visitor(net::tcp_stream to) : to_(std::move(to)) {}
  visitor(const visitor&) = delete;
  visitor& operator=(const visitor&) = delete;

  skua::task<> says(std::string text) {
    text += '\n';
    skua::or_throw(co_await to_.write_all(std::as_bytes(std::span(text))));
  }
  skua::task<std::string> hears() {
    const auto line = skua::or_throw(co_await lines_.next());
    if (!line) co_return "";
    std::printf("  %.*s\n", static_cast<int>(line->text().size()), line->text().data());
    co_return std::string(line->text());
  }

private:
  net::tcp_stream to_;
  skua::framed<net::tcp_stream> lines_{to_, skua::framing::lines()};
};

skua::task<> meet(net::socket_address server, bool& well) {
  visitor ann(skua::or_throw(co_await net::tcp_stream::connect(server)));
  co_await ann.says("Ann");
  well = co_await ann.hears() == "welcome, Ann";
  visitor bob(skua::or_throw(co_await net::tcp_stream::connect(server)));
  co_await bob.says("Bob");
  well &= co_await bob.hears() == "welcome, Bob";
  well &= co_await ann.hears() == "Bob: is here";
  co_await ann.says("hello");
  well &= co_await bob.hears() == "Ann: hello";
}

skua::task<int> amain(std::string address) {
  const bool tries_itself = address.empty();
  auto listener =
      skua::or_throw(net::tcp_listener::bind(tries_itself ? "127.0.0.1:0" : address), "bind");
  const auto at = skua::or_throw(listener.local_address());
  room all;
  auto handler = [&all](net::tcp_stream peer) { return all.guest(std::move(peer)); };
  if (!tries_itself) {
    co_await skua::serve(listener, handler);
    co_return 1;
  }
  bool well = false;
  co_await skua::serve(listener, handler, skua::serve_options(), meet(at, well));
  co_return well ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  return skua::run(amain(count > 1 ? arguments[1] : ""));
}
