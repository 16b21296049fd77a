// tests/net/watched_test.cpp: a server under strace, and bytes over a line that loses packets.
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/processes.hpp"
#include "support/runtimes.hpp"
#include "support/streams.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace net = skua::net;
namespace process = skua::process;
using net::socket_address;
using net::tcp_stream;
using skua::spawn;
using skua::task;
using skua_test::address_of;
using skua_test::comes_true;
using skua_test::loopback_listener;
using skua_test::read_to_end;
using skua_test::send_text;

bool runs(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

// --- what strace has seen

/// Which descriptors a program has made and not closed, by the lines of strace -f.
class fd_ledger {
public:
  explicit fd_ledger(const std::string& path) {
    std::ifstream from(path);
    for (std::string line; std::getline(from, line);) read(line);
  }
  [[nodiscard]] bool is_complete() const { return ended_; }
  [[nodiscard]] const std::set<int>& open() const { return open_; }
  /// Descriptors that were closed although they were not open.
  [[nodiscard]] int closed_twice() const { return closed_twice_; }
  [[nodiscard]] int count(const std::string& call) const {
    const auto found = calls_.find(call);
    return found == calls_.end() ? 0 : found->second;
  }

private:
  // `12 close(7) = 0`; or `12 close(7 <unfinished ...>` and later `12 <... close resumed>) = 0`.
  void read(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    const std::string who(line.substr(0, space));
    std::string what(line.substr(line.find_first_not_of(' ', space)));
    if (program_.empty()) program_ = who;
    ended_ = ended_ || (who == program_ && what.starts_with("+++ exited"));
    if (const auto cut = what.find(" <unfinished ...>"); cut != std::string::npos) {
      begun_[who] = what.substr(0, cut);
      begins(what);
      return;
    }
    if (const auto rest = what.find(" resumed>"); what.starts_with("<... "))
      what = begun_[who] + what.substr(rest + 9);
    else
      begins(what);
    ends(what);
  }

  static int number(std::string_view from) {
    int made = -1;
    std::from_chars(from.data(), from.data() + from.size(), made);
    return made;
  }

  // The number is free before the call has returned, and another thread may have it then.
  void begins(const std::string& what) {
    constexpr std::string_view close = "close(";
    if (!what.starts_with(close)) return;
    if (open_.erase(number(std::string_view(what).substr(close.size()))) == 0) ++closed_twice_;
  }

  void ends(const std::string& what) {
    const std::size_t name_end = what.find('(');
    const std::size_t answer = what.rfind(" = ");
    if (name_end == std::string::npos || answer == std::string::npos) return;
    const std::string name = what.substr(0, name_end);
    const int given = number(std::string_view(what).substr(answer + 3));
    ++calls_[name];
    if (given < 0) return;
    if (name == "pipe2" || name == "socketpair") return made_two(what);
    static const std::set<std::string> makers = {
        "openat",       "socket",        "accept",         "accept4",       "dup",
        "dup2",         "dup3",          "epoll_create1",  "eventfd2",      "open",
        "epoll_create", "signalfd4",     "timerfd_create", "memfd_create",  "pidfd_open",
        "openat2",      "inotify_init1", "creat",          "io_uring_setup"};
    const bool duplicates = name == "fcntl" && what.find("F_DUPFD") != std::string::npos;
    if (makers.contains(name) || duplicates) open_.insert(given);
  }

  void made_two(const std::string& what) {
    const std::size_t both = what.rfind('[');
    open_.insert(number(std::string_view(what).substr(both + 1)));
    open_.insert(number(std::string_view(what).substr(what.find(", ", both) + 2)));
  }

  std::map<std::string, std::string> begun_;  // by thread
  std::map<std::string, int> calls_;
  std::set<int> open_;
  int closed_twice_ = 0;
  std::string program_;  // the first thread
  bool ended_ = false;
};

TEST(fd_ledger, sees_what_stays_open) {
  const skua_test::temp_directory here;
  std::ofstream(here / "trace") << "1  socket(AF_INET, SOCK_STREAM, 0) = 3\n"
                                   "1  accept4(3, NULL, NULL, SOCK_CLOEXEC <unfinished ...>\n"
                                   "2  pipe2([5, 6], O_CLOEXEC) = 0\n"
                                   "1  <... accept4 resumed>)       = 4\n"
                                   "2  accept4(3, NULL, NULL, 0) = -1 EAGAIN (Resource)\n"
                                   "2  close(6 <unfinished ...>\n"
                                   "1  dup(0)                       = 6\n"
                                   "1  close(3)                     = 0\n"
                                   "2  <... close resumed>)         = 0\n"
                                   "1  close(9)                     = -1 EBADF (Bad descriptor)\n"
                                   "1  +++ exited with 0 +++\n";
  const fd_ledger seen(here / "trace");
  EXPECT_TRUE(seen.is_complete());
  EXPECT_EQ(seen.open(), (std::set{4, 5, 6}));
  EXPECT_EQ(seen.closed_twice(), 1);
  EXPECT_EQ(seen.count("accept4"), 2);
}

// --- a server that is watched

/// An example, which is built beside the tests.
fs::path example(const char* name) {
  return fs::canonical("/proc/self/exe").parent_path().parent_path() / "examples" / name;
}

/// The address that a server says it is at.
task<socket_address> address_told(process::child& by) {
  std::string line;
  while (line.find('\n') == std::string::npos) {
    std::array<char, 64> some;
    const auto got = co_await by.out()->read(std::as_writable_bytes(std::span(some)));
    if (got.value_or(0) == 0) co_return socket_address();
    line.append(some.data(), *got);
  }
  const std::string_view text = std::string_view(line).substr(line.rfind(' ') + 1);
  co_return socket_address::parse(text.substr(0, text.find('\n'))).value_or(socket_address());
}

/// Connections that end in every way there is.
task<> visit(socket_address server, int which) {
  auto peer = skua::or_throw(co_await tcp_stream::connect(server));
  if (which % 4 == 0) co_return;  // closed at once
  co_await send_text(peer, "hello");
  if (which % 4 == 1) {
    EXPECT_TRUE(peer.set_linger(skua::time_span()).has_value());
    co_return;  // reset
  }
  if (which % 4 == 2) {
    EXPECT_EQ(co_await skua_test::read_text(peer), "hello");
    co_return;
  }
  co_await peer.shutdown_write();
  EXPECT_EQ(co_await read_to_end(peer), "hello");
}

constexpr int visitors = 300;

task<> visit_often(socket_address server) {
  constexpr int at_once = 20;
  for (int i = 0; i < visitors; i += at_once) {
    std::vector<skua::join_handle<void>> all;
    for (int k = 0; k < at_once; ++k) all.push_back(spawn(visit(server, i + k)));
    for (auto& each : all) co_await std::move(each);
  }
}

std::size_t fds_of(pid_t whose) {
  const fs::directory_iterator all("/proc/" + std::to_string(whose) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

process::command echo_server() {
  process::command made(example("echo").string());
  made.arg("127.0.0.1:0").out(process::stdio::pipe());
  return made;
}

/// Visits it; when all have gone it has no more descriptors than before. Then it is asked to end.
/// Fewer is well: what it had open before may have been a file read at its start.
task<> use_and_end(process::child& server) {
  const socket_address at = co_await address_told(server);
  EXPECT_TRUE(at.is_ip());
  if (!at.is_ip()) co_return;
  const auto alive = co_await skua::timeout(90s, visit(at, 3));
  EXPECT_TRUE(alive.has_value());
  std::size_t before = 0;
  const auto is_steady = [&] { return std::exchange(before, fds_of(server.id())) == before; };
  EXPECT_TRUE(co_await comes_true(is_steady));
  const auto in_time = co_await skua::timeout(90s, visit_often(at));
  EXPECT_TRUE(in_time.has_value());
  EXPECT_TRUE(co_await comes_true([&] { return fds_of(server.id()) <= before; }))
      << fds_of(server.id()) << " descriptors, and " << before << " before";
  EXPECT_TRUE(server.signal(SIGTERM).has_value());
  const auto end = skua::or_throw(co_await server.wait());
  EXPECT_TRUE(end.success());
}

TEST(watched, server_closes_the_descriptor_of_every_connection) {
  if (!fs::exists(example("echo"))) GTEST_SKIP() << "the examples are not built";
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto body = []() -> task<> {
    auto server = skua::or_throw(co_await echo_server().spawn());
    co_await use_and_end(server);
  };
  rt.block_on(body());
}

// A ring opens descriptors without a system call, which strace does not see.
TEST(watched, server_on_epoll_closes_every_descriptor_that_strace_has_seen) {
  if (!fs::exists(example("echo"))) GTEST_SKIP() << "the examples are not built";
  if (!runs("strace -V")) GTEST_SKIP() << "no strace: install it";
  if (!runs("strace -o /dev/null true")) GTEST_SKIP() << "nobody may be traced here";
  const skua_test::temp_directory here;
  const std::string trace = here / "trace";
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto body = [&trace]() -> task<> {
    process::command watched("strace");
    const std::vector<std::string> how = {
        "-D",         "-f",          "-q", "-e",  "trace=desc,network",
        "-e",         "signal=none", "-o", trace, example("echo").string(),
        "127.0.0.1:0"};
    watched.args(how).env("SKUA_BACKEND", "epoll").out(process::stdio::pipe());
    watched.env("ASAN_OPTIONS", "detect_leaks=0");  // that needs to trace it, too
    auto server = skua::or_throw(co_await watched.spawn());
    co_await use_and_end(server);
    EXPECT_TRUE(co_await comes_true([&trace] { return fd_ledger(trace).is_complete(); }));
  };
  rt.block_on(body());
  const fd_ledger seen(trace);
  EXPECT_GT(seen.count("accept4"), visitors) << "the trace is not of what it seems to be";
  EXPECT_EQ(seen.open(), std::set<int>());
  EXPECT_EQ(seen.closed_twice(), 0);
}

// --- a bad line

/// A network of the calling thread's own, and of threads that it starts: a loopback interface that
/// loses packets. Where the kernel cannot lose them by chance, its queue is too short for the rate.
bool lossy_network(std::string& why_not) {
  if (!runs("ip -V") || !runs("tc -V")) return why_not = "no ip or tc: install iproute2", false;
  if (::unshare(CLONE_NEWNET) != 0) return why_not = "no network of our own: not root", false;
  if (!runs("ip link set lo mtu 1500 up")) return why_not = "the interface cannot be used", false;
  static_cast<void>(runs("ip link set lo gso_max_segs 1"));  // of many small ones some get lost
  if (runs("tc qdisc add dev lo root netem delay 1ms loss 2%")) return true;
  if (runs("tc qdisc add dev lo root tbf rate 300mbit burst 20kb limit 20kb")) return true;
  return why_not = "the kernel has neither netem nor tbf", false;
}

/// Of this thread's network: segments of TCP that were sent again.
long sent_again() {
  std::ifstream from("/proc/thread-self/net/snmp");
  std::vector<std::string> names;
  for (std::string line; std::getline(from, line);) {
    if (!line.starts_with("Tcp:")) continue;
    std::istringstream words(line);
    std::vector<std::string> all(std::istream_iterator<std::string>(words), {});
    if (names.empty()) {
      names = std::move(all);
      continue;
    }
    const auto found = std::ranges::find(names, "RetransSegs") - names.begin();
    return std::stol(all.at(static_cast<std::size_t>(found)));
  }
  return -1;
}

std::string some_megabytes() {
  std::string made(std::size_t{3} << 20, '\0');
  std::uint32_t state = 1;
  for (char& one : made) one = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24);
  return made;
}

/// Back to where it came from.
task<skua::result<void>> copy_back(tcp_stream peer) {
  co_await skua::or_return(co_await skua::io::copy(peer, peer));
  co_return co_await peer.shutdown_write();
}

task<> send_there_and_back(socket_address server) {
  auto peer = skua::or_throw(co_await tcp_stream::connect(server));
  const std::string all = some_megabytes();
  auto sends = [](tcp_stream& to, const std::string& what) -> task<> {
    co_await send_text(to, what);
    co_await to.shutdown_write();
  };
  auto [unused, back] = co_await skua::when_all(sends(peer, all), read_to_end(peer));
  EXPECT_TRUE(back == all) << back.size() << " bytes have come of " << all.size();
}

task<> serve_once() {
  auto at = loopback_listener();
  const socket_address where = address_of(at);
  const auto how =
      co_await skua::serve(at, copy_back, skua::serve_options(), send_there_and_back(where));
  EXPECT_EQ(skua::or_throw(how).succeeded, 1U);
}

TEST(watched, bytes_arrive_whole_though_packets_are_lost) {
  std::string why_not;
  long again = 0;
  std::thread apart([&] {
    if (!lossy_network(why_not)) return;
    auto rt = skua_test::started(skua_test::two_workers.settings());
    constexpr int most = 50;  // a queue that is too short for a rate loses when it likes to
    for (int i = 0; i < most && again == 0; ++i) {
      rt.block_on(serve_once());
      again = sent_again();
    }
  });
  apart.join();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  if (again == 0) GTEST_SKIP() << "this network loses nothing, however much is sent";
}

}  // namespace
