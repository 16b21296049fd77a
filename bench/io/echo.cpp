// bench/io/echo.cpp: how fast one worker returns messages, and with how many system calls.
//
// 64 or 1,000 TCP connections over the loopback, with a message of 64 bytes on its way in each: a
// thread of its own, on another CPU, sends the next when one has come back. A task for each
// connection receives and sends. Baselines: the same on a bare liburing with the same ring, and on
// a bare epoll, told of edges or levels. "raw": descriptors that the driver does not know to be
// ours alone, which epoll has to arm again for each message.
//
// Rounds of both sides take turns. Printed for each pair of them, ours / theirs: the median, and
// what it is above with 95 % confidence, by a sign test. "cpu" is the time of the thread that
// serves: messages per second of it. System calls are counted in rounds of their own, in which the
// messages come in bursts, so that both sides find the same at once.
//   build/release/bench/bench.io.echo [only NAME] [at-least 0.90 | calls-at-most 1.02 | once]
// at-least: fails if what a promised speed is above is less. calls-at-most: fails if there are more
// calls per message, by that factor; exits 77 if they cannot be counted here.
#include "io/bare_servers.hpp"
#include "skua/io/socket.hpp"
#include "skua/io/stream.hpp"
#include "skua/runtime/run.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/echo_load.hpp"
#include "support/paired.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;

// --- ours

// Says that the descriptor is closed only through the driver.
skua::io_operation<std::size_t> at_own(skua::op_code code, int fd, std::span<std::byte> bytes,
                                       int flags) {
  skua::op_request what;
  what.code = code;
  what.fd = fd;
  what.address = bytes.data();
  what.length = bytes.size();
  what.flags = static_cast<std::uint32_t>(flags);
  what.owner = static_cast<std::uint64_t>(fd) + 1;
  return skua::io_operation<std::size_t>(what);
}

template <bool Owned>
auto receive(int fd, std::span<std::byte> into) {
  if constexpr (Owned)
    return at_own(skua::op_code::recv, fd, into, 0);
  else
    return skua::io::recv(fd, into);
}

template <bool Owned>
auto send(int fd, std::span<std::byte> from) {
  if constexpr (Owned)
    return at_own(skua::op_code::send, fd, from, MSG_NOSIGNAL);
  else
    return skua::io::send(fd, from);
}

template <bool Owned>
skua::task<> echo(connection& one) {
  for (;;) {
    const auto got = co_await receive<Owned>(one.fd, one.room);
    require(got.has_value(), "recv in a task");
    if (*got == 0) break;
    const auto sent = co_await send<Owned>(one.fd, std::span(one.room).first(*got));
    require(sent.has_value() && *sent == *got, "send in a task");
  }
  require((co_await skua::io::close(skua::unique_fd(one.fd))).has_value(), "close in a task");
}

template <bool Owned>
skua::task<> serve_all(std::span<connection> all, seat& mine) {
  mine.take();
  for (connection& one : all) skua::spawn(echo<Owned>(one)).detach();
  co_return;
}

template <skua::backend Backend, skua::flavour Flavour, bool Owned = true>
void with_skua(std::span<connection> all, seat& mine) {
  skua::config settings;
  settings.flavour = Flavour;
  settings.workers = 1;
  settings.backend = Backend;
  auto started = skua::runtime::start(settings);
  if (!started) skua::throw_start_error(started.error());
  started->block_on(serve_all<Owned>(all, mine));
}

// --- theirs

void with_bare_uring(std::span<connection> all, seat& mine) {
  mine.take();
  bare::uring_echo(all).run();
}

template <bool Edge>
void with_bare_epoll(std::span<connection> all, seat& mine) {
  mine.take();
  bare::epoll_echo<Edge>(all);
}

// --- comparisons

struct contest {
  const char* name;
  std::size_t connections;
  serve_function ours;
  serve_function theirs;
  bool promised;
};

std::vector<contest> all_contests() {
  using enum skua::backend;
  using enum skua::flavour;
  return {
      {"uring.1_worker.64", 64, with_skua<uring, multi_thread>, with_bare_uring, true},
      {"uring.1_worker.1000", 1'000, with_skua<uring, multi_thread>, with_bare_uring, true},
      {"uring.current_thread.64", 64, with_skua<uring, current_thread>, with_bare_uring, true},
      {"uring.current_thread.1000", 1'000, with_skua<uring, current_thread>, with_bare_uring, true},
      {"epoll.1_worker.64", 64, with_skua<epoll, multi_thread>, with_bare_epoll<true>, true},
      {"epoll.1_worker.1000", 1'000, with_skua<epoll, multi_thread>, with_bare_epoll<true>, true},
      {"epoll.current_thread.64", 64, with_skua<epoll, current_thread>, with_bare_epoll<true>,
       true},
      {"epoll.current_thread.1000", 1'000, with_skua<epoll, current_thread>, with_bare_epoll<true>,
       true},
      {"epoll.1_worker.level.64", 64, with_skua<epoll, multi_thread>, with_bare_epoll<false>,
       false},
      {"epoll.1_worker.level.1000", 1'000, with_skua<epoll, multi_thread>, with_bare_epoll<false>,
       false},
      {"epoll.1_worker.raw.64", 64, with_skua<epoll, multi_thread, false>, with_bare_epoll<true>,
       false},
      {"epoll.1_worker.raw.1000", 1'000, with_skua<epoll, multi_thread, false>,
       with_bare_epoll<true>, false},
  };
}

struct effort {
  std::size_t pairs;
  std::chrono::nanoseconds round;
};
constexpr effort thorough{.pairs = 101, .round = 20ms};
constexpr effort brief{.pairs = 31, .round = 20ms};  // calls come the same every time
constexpr effort least{.pairs = 1, .round = 10ms};

double rate(const load_result& one) {
  return one.messages / one.seconds;
}
double rate_of_cpu(const load_result& one) {
  return one.messages / one.cpu_seconds;
}
double calls_per_message(const load_result& one) {
  return one.calls / one.messages;
}

/// The two servers of a contest, and what they did in each pair of rounds.
class arena {
public:
  arena(const contest& what, manner how)
      : ours_(what.ours, what.connections, how), theirs_(what.theirs, what.connections, how) {}

  [[nodiscard]] bool counts_calls() const { return ours_.counts_calls() && theirs_.counts_calls(); }

  void run(const effort& how) {
    static_cast<void>(theirs_.load(how.round / 4));  // the first round would pay for the start
    static_cast<void>(ours_.load(how.round / 4));
    for (std::size_t i = 0; i < how.pairs; ++i) {
      const bool ours_first = i % 2 == 0;
      load_result first = (ours_first ? ours_ : theirs_).load(how.round);
      load_result second = (ours_first ? theirs_ : ours_).load(how.round);
      did_ours_.push_back(ours_first ? first : second);
      did_theirs_.push_back(ours_first ? second : first);
    }
  }

  [[nodiscard]] paired compare(double (*by)(const load_result&)) const {
    std::vector<double> ratios;
    ratios.reserve(did_ours_.size());
    for (std::size_t i = 0; i < did_ours_.size(); ++i)
      ratios.push_back(by(did_ours_[i]) / by(did_theirs_[i]));
    return paired_ratio(std::move(ratios));
  }
  [[nodiscard]] double median_calls(bool of_ours) const {
    std::vector<double> all;
    for (const load_result& one : of_ours ? did_ours_ : did_theirs_)
      all.push_back(calls_per_message(one));
    return paired_ratio(std::move(all)).median;
  }
  [[nodiscard]] double busy(bool ours) const {
    load_result sum;
    for (const load_result& one : ours ? did_ours_ : did_theirs_) {
      sum.cpu_seconds += one.cpu_seconds;
      sum.seconds += one.seconds;
    }
    return sum.cpu_seconds / sum.seconds;
  }

private:
  echo_server ours_;
  echo_server theirs_;
  std::vector<load_result> did_ours_;
  std::vector<load_result> did_theirs_;
};

constexpr int skipped = 77;

/// The server waits for nothing but its processor: with less than half of that, others had it.
bool was_disturbed(const arena& here) {
  return std::min(here.busy(true), here.busy(false)) < 0.5;
}

/// False if it is slower than that. Ends the program if nobody could tell.
bool holds_speed(const contest& what, const effort& how, double at_least) {
  arena here(what, manner::stream);
  here.run(how);
  const paired by_time = here.compare(rate);
  const paired by_cpu = here.compare(rate_of_cpu);
  std::printf("%s: speed %.3f, above %.3f; cpu %.3f, above %.3f; busy %.0f %% and %.0f %%\n",
              what.name, by_time.median, by_time.low, by_cpu.median, by_cpu.low,
              100 * here.busy(true), 100 * here.busy(false));
  std::fflush(stdout);
  if (by_time.low >= at_least) return true;
  if (was_disturbed(here)) {
    std::printf("less than %.2f, but others had the processor\n", at_least);
    std::exit(skipped);
  }
  std::printf("less than %.2f\n", at_least);
  return false;
}

/// False if it makes more calls than that. Ends the program if they cannot be counted.
bool holds_calls(const contest& what, const effort& how, double at_most) {
  arena here(what, manner::bursts);
  if (!here.counts_calls()) {
    std::printf("%s: this process may not count system calls\n", what.name);
    if (at_most > 0) std::exit(skipped);
    return true;
  }
  here.run(how);
  const double ours = here.median_calls(true);
  const double theirs = here.median_calls(false);
  const paired by_cpu = here.compare(rate_of_cpu);
  std::printf("%s: calls per message %.4f and %.4f, ratio %.3f; in bursts, cpu %.3f, above %.3f\n",
              what.name, ours, theirs, ours / theirs, by_cpu.median, by_cpu.low);
  std::fflush(stdout);
  if (at_most <= 0 || ours <= theirs * at_most) return true;
  std::printf("more than %.2f\n", at_most);
  return false;
}

int usage(const char* program) {
  std::fprintf(stderr, "usage: %s [only NAME] [at-least RATIO | calls-at-most RATIO | once]\n",
               program);
  for (const contest& one : all_contests()) std::fprintf(stderr, "  %s\n", one.name);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  std::string_view only;
  if (words.size() >= 2 && words[0] == "only") {
    only = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  const std::string_view mode = words.empty() ? "" : words[0];
  const double limit = words.size() == 2 ? std::atof(argv[argc - 1]) : 0;
  const bool checks = (mode == "at-least" || mode == "calls-at-most") && limit > 0;
  if (!words.empty() && !checks && mode != "once") return usage(argv[0]);
  bool known = false;
  bool good = true;
  for (const contest& one : all_contests()) {
    if (!only.empty() && only != one.name) continue;
    known = true;
    if (checks && only.empty() && !one.promised) continue;
    if (mode == "at-least") good = holds_speed(one, thorough, limit) && good;
    if (mode == "calls-at-most") good = holds_calls(one, brief, limit) && good;
    if (checks) continue;
    holds_speed(one, mode == "once" ? least : thorough, 0);
    holds_calls(one, mode == "once" ? least : brief, 0);
  }
  if (!known) return usage(argv[0]);
  return good ? 0 : 1;
}
