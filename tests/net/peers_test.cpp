// tests/net/peers_test.cpp: programs of others as clients and servers: socat, nc, curl.
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/streams.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::task;
using skua_test::address_of;
using skua_test::bytes_of;
using skua_test::loopback_listener;
using skua_test::text_of;

class peers : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, peers, skua_test::every_kind(), skua_test::name_of_kind);

bool is_missing(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0;
}

/// What a command line prints; blocks its thread.
std::string output_of(const std::string& command) {
  std::FILE* const from = ::popen(("timeout 100 " + command + " 2>&1").c_str(), "r");
  if (from == nullptr) return "popen failed";
  std::string all;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(buffer.data(), 1, buffer.size(), from);
    all.append(buffer.data(), got);
  }
  const int status = ::pclose(from);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    all += "[status " + std::to_string(status) + "]";
  return all;
}

task<std::string> runs(std::string command) {
  co_return co_await skua::spawn_blocking(output_of, std::move(command));
}

template <typename Stream>
task<skua::result<void>> echo(Stream peer) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const std::size_t n = co_await skua::or_return(co_await peer.read(buffer));
    if (n == 0) co_return {};
    co_await skua::or_return(co_await peer.write_all(std::span(buffer).first(n)));
  }
}

/// As little of HTTP as will do: any request gets the same answer, and the connection ends.
task<skua::result<void>> answer_http(tcp_stream peer) {
  skua::framed lines(peer, skua::framing::lines(8'192));
  std::string path;
  for (;;) {
    const auto line = co_await skua::or_return(co_await lines.next());
    if (!line || line->text().empty()) break;
    if (path.empty()) path = std::string(line->text());
  }
  const std::string text = "you asked: " + path + "\n";
  const std::string answer =
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size()) +
      "\r\n\r\n" + text;
  co_return co_await peer.write_all(bytes_of(answer));
}

/// Serves for as long as a command runs.
template <typename Listener, typename Handler>
task<std::string> output_while_serving(Listener& at, Handler handler, std::string command) {
  std::string said;
  auto client = [](std::string what, std::string& into) -> task<> { into = co_await runs(what); };
  const auto how =
      co_await skua::serve(at, handler, skua::serve_options(), client(std::move(command), said));
  EXPECT_TRUE(how.has_value());
  co_return said;
}

std::string port_of(const tcp_listener& at) {
  return std::to_string(address_of(at).port());
}

TEST_P(peers, socat_is_echoed) {
  if (is_missing("socat")) GTEST_SKIP() << "no socat here";
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    const std::string said = co_await output_while_serving(
        at, echo<tcp_stream>,
        "sh -c 'seq 1 20000 | socat -t 60 - TCP:127.0.0.1:" + port_of(at) + " | cksum'");
    EXPECT_EQ(said, output_of("sh -c 'seq 1 20000 | cksum'"));

    const skua_test::temp_directory where;
    const std::string path = where / "socket";
    auto local = skua::or_throw(net::unix_listener::bind(path));
    const std::string answer = co_await output_while_serving(
        local, echo<net::unix_stream>,
        "sh -c 'echo within | socat -t 60 - UNIX-CONNECT:" + path + "'");
    EXPECT_EQ(answer, "within\n");
  };
  rt.block_on(body());
}

TEST_P(peers, nc_is_echoed) {
  if (is_missing("nc")) GTEST_SKIP() << "no nc here";
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    const std::string said = co_await output_while_serving(
        at, echo<tcp_stream>, "sh -c 'echo over there | nc -N 127.0.0.1 " + port_of(at) + "'");
    EXPECT_EQ(said, "over there\n");
  };
  rt.block_on(body());
}

TEST_P(peers, curl_is_answered) {
  if (is_missing("curl")) GTEST_SKIP() << "no curl here";
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    const std::string said = co_await output_while_serving(
        at, answer_http, "curl -sS --noproxy '*' http://127.0.0.1:" + port_of(at) + "/some/page");
    EXPECT_EQ(said, "you asked: GET /some/page HTTP/1.1\n");
  };
  rt.block_on(body());
}

TEST_P(peers, socat_is_a_server_too) {
  if (is_missing("socat")) GTEST_SKIP() << "no socat here";
  auto rt = start();
  auto body = []() -> task<> {
    const skua_test::temp_directory where;
    const std::string path = where / "socat";
    auto server = skua::spawn(runs("socat -t 60 UNIX-LISTEN:" + path + " EXEC:'tr a-z A-Z'"));
    const auto at = skua::or_throw(socket_address::unix_path(path));
    skua::result<net::unix_stream> made = skua::fail(std::errc::no_such_file_or_directory);
    for (int i = 0; i < 60'000 && !made.has_value(); ++i) {
      co_await skua::sleep(1ms);
      made = co_await net::unix_stream::connect(at);
    }
    EXPECT_TRUE(made.has_value());
    if (!made.has_value()) co_return;
    co_await skua_test::send_text(*made, "louder");
    co_await made->shutdown_write();
    EXPECT_EQ(co_await skua_test::read_to_end(*made), "LOUDER");
    EXPECT_EQ(co_await std::move(server), "");
  };
  rt.block_on(body());
}

TEST_P(peers, socat_sends_datagrams) {
  if (is_missing("socat")) GTEST_SKIP() << "no socat here";
  auto rt = start();
  auto body = []() -> task<> {
    auto at = skua::or_throw(net::udp_socket::bind("127.0.0.1:0"));
    auto client = skua::spawn(runs("sh -c 'echo ping | socat -t 60 - UDP:127.0.0.1:" +
                                   std::to_string(address_of(at).port()) + ",readbytes=5'"));
    skua_test::room<64> into;
    const auto got = skua::or_throw(co_await skua::timeout(100s, at.recv_from(into.span())));
    EXPECT_EQ(text_of(into.span().first(got.size())), "ping\n");
    skua::or_throw(co_await at.send_to(bytes_of("pong\n"), got.from()));
    EXPECT_EQ(co_await std::move(client), "pong\n");
  };
  rt.block_on(body());
}

}  // namespace
