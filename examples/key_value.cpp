// examples/key_value.cpp: a server of lines: `set KEY VALUE`, `get KEY`, `count`, `quit`.
#include <skua/skua.hpp>

#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace net = skua::net;

using table = std::map<std::string, std::string, std::less<>>;

// Takes the first word off.
std::string_view word(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return first;
}

std::string answer_to(std::string_view line, table& all) {
  const std::string_view command = word(line);
  if (command == "set") {
    const std::string_view key = word(line);
    if (key.empty()) return "error: set what?";
    all.insert_or_assign(std::string(key), std::string(line));
    return "ok";
  }
  if (command == "get") {
    const auto found = all.find(word(line));
    return found == all.end() ? "none" : "value " + found->second;
  }
  if (command == "count") return std::to_string(all.size());
  return "error: no such command";
}

class store {
public:
  // One for each connection; the limit keeps a client from filling our memory with one line.
  skua::task<skua::result<void>> serve(net::tcp_stream peer) {
    skua::framed lines(peer, skua::framing::lines(4096));
    for (;;) {
      const auto line = co_await skua::or_return(co_await lines.next());
      if (!line || line->text() == "quit") co_return {};
      std::string answer;
      {
        auto hold = co_await all_.lock();
        answer = answer_to(line->text(), *hold);
      }
      answer += '\n';
      co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(answer))));
    }
  }

private:
  skua::guarded<table> all_;
};

// Says a few lines, and shows what comes back.
skua::task<> converse(net::socket_address server, int& right) {
  auto peer = skua::or_throw(co_await net::tcp_stream::connect(server));
  skua::framed lines(peer, skua::framing::lines());
  constexpr std::pair<std::string_view, std::string_view> expected[] = {
      {"set bird great skua\n", "ok"},
      {"get bird\n", "value great skua"},
      {"get fish\n", "none"},
      {"count\n", "1"},
      {"fly\n", "error: no such command"}};
  for (const auto& [question, answer] : expected) {
    skua::or_throw(co_await peer.write_all(std::as_bytes(std::span(question))));
    const auto line = skua::or_throw(co_await lines.next());
    if (!line) co_return;
    std::printf("%.*s-> %.*s\n", static_cast<int>(question.size()), question.data(),
                static_cast<int>(line->text().size()), line->text().data());
    if (line->text() == answer) ++right;
  }
}

skua::task<int> amain(std::string address) {
  const bool tries_itself = address.empty();
  auto listener =
      skua::or_throw(net::tcp_listener::bind(tries_itself ? "127.0.0.1:0" : address), "bind");
  const auto at = skua::or_throw(listener.local_address());
  store all;
  auto handler = [&all](net::tcp_stream peer) { return all.serve(std::move(peer)); };
  if (!tries_itself) {
    co_await skua::serve(listener, handler);
    co_return 1;
  }
  int right = 0;
  co_await skua::serve(listener, handler, skua::serve_options(), converse(at, right));
  co_return right == 5 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  return skua::run(amain(count > 1 ? arguments[1] : ""));
}
