// examples/fiber_line_client.cpp: a blocking-style client of a line protocol, run on fibers.
//
// `namespace third_party` stands for a library that knows nothing of skua: it parses by calling
// back for more bytes, from the middle of its own loops, and expects to be given some. On a thread
// that would block; on a fiber only the fiber waits. Twenty clients share the workers here.
#include <skua/fiber.hpp>
#include <skua/skua.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace third_party {

/// Where the bytes come from and go to. Both return when it is done; read() gives 0 at the end.
class transport {
public:
  virtual ~transport() = default;
  virtual std::size_t read(char* into, std::size_t room) = 0;
  virtual void write(const char* from, std::size_t size) = 0;
};

/// Asks for a table: `list` is answered by a line with the number of entries, and that many lines
/// `key=value`.
class table_client {
public:
  explicit table_client(transport& over) : over_(over) {}

  std::map<std::string, int> list() {
    constexpr std::string_view question = "list\n";
    over_.write(question.data(), question.size());
    std::map<std::string, int> all;
    const int count = std::stoi(line());
    for (int i = 0; i < count; ++i) all.insert(entry());
    return all;
  }

private:
  std::pair<std::string, int> entry() {
    const std::string text = line();
    const std::size_t middle = text.find('=');
    if (middle == std::string::npos) throw std::runtime_error("not an entry: " + text);
    return {text.substr(0, middle), std::stoi(text.substr(middle + 1))};
  }

  std::string line() {
    std::string text;
    for (char c = next(); c != '\n'; c = next()) text += c;
    return text;
  }

  char next() {
    if (at_ == end_) {
      at_ = 0;
      end_ = over_.read(buffer_.data(), buffer_.size());
      if (end_ == 0) throw std::runtime_error("the server has gone");
    }
    return buffer_[at_++];
  }

  transport& over_;
  std::array<char, 16> buffer_{};
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace third_party

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
namespace fiber = skua::fiber;

constexpr int clients = 20;

// All that connects the two worlds.
class over_tcp final : public third_party::transport {
public:
  explicit over_tcp(net::socket_address server)
      : peer_(skua::or_throw(fiber::await(net::tcp_stream::connect(server)), "connect")) {}

  std::size_t read(char* into, std::size_t room) override {
    const auto bytes = std::as_writable_bytes(std::span(into, room));
    return skua::or_throw(fiber::await(skua::timeout(10s, peer_.read(bytes))), "read");
  }
  void write(const char* from, std::size_t size) override {
    const auto bytes = std::as_bytes(std::span(from, size));
    skua::or_throw(fiber::await(peer_.write_all(bytes)), "write");
  }

private:
  net::tcp_stream peer_;
};

// Answers in pieces that fit no line, with pauses.
skua::task<skua::result<void>> serve_table(net::tcp_stream peer) {
  std::array<std::byte, 64> question;
  const std::size_t asked = co_await skua::or_return(co_await peer.read(question));
  if (asked == 0) co_return {};
  const std::string answer = "3\nred=1\ngreen=22\nblue=333\n";
  for (std::size_t at = 0; at < answer.size(); at += 5) {
    co_await skua::sleep(1ms);
    const std::string piece = answer.substr(at, 5);
    co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(piece))));
  }
  co_return {};
}

// An ordinary function, with ordinary calls in it.
int sum_of_table(net::socket_address server) {
  over_tcp connection(server);
  third_party::table_client client(connection);
  int sum = 0;
  for (const auto& [key, value] : client.list()) sum += value;
  return sum;
}

skua::task<> ask(net::socket_address server, int& right) {
  std::vector<skua::join_handle<int>> all;
  all.reserve(clients);
  const auto how = fiber::options().name("table client").stack_size(65'536);
  for (int i = 0; i < clients; ++i) all.push_back(fiber::spawn(how, sum_of_table, server));
  for (auto& each : all) {
    const int sum = co_await std::move(each);
    if (sum == 356) ++right;
  }
}

skua::task<int> amain() {
  auto listener = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0"), "bind");
  const auto at = skua::or_throw(listener.local_address());
  int right = 0;
  skua::or_throw(co_await skua::serve(listener, serve_table, skua::serve_options(), ask(at, right)),
                 "serve");
  std::printf("%d of %d clients have the whole table\n", right, clients);
  co_return right == clients ? 0 : 1;
}

}  // namespace

int main() {
  // An overflow would end the process either way; this way it says which fiber it was.
  skua::or_throw(fiber::explain_overflows(), "explain_overflows");
  return skua::run(amain());
}
