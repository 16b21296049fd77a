// tests/net/serve_test.cpp: limits, failures, shortages and ends of servers.
#include "skua/net/serve.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::serve;
using skua::serve_counters;
using skua::serve_options;
using skua::serve_report;
using skua::spawn;
using skua::task;
using skua_test::address_of;
using skua_test::comes_true;
using skua_test::error_of;
using skua_test::loopback_listener;
using skua_test::open_fds;
using skua_test::read_text;
using skua_test::read_to_end;
using skua_test::send_text;

class servers : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, servers, skua_test::every_kind(), skua_test::name_of_kind);

task<> wait_for(skua::event& what) {
  co_await what.wait();
}

template <typename Stream>
task<skua::result<void>> echo(Stream peer) {
  std::array<std::byte, 512> buffer;
  for (;;) {
    const std::size_t n = co_await skua::or_return(co_await peer.read(buffer));
    if (n == 0) co_return {};
    co_await skua::or_return(co_await peer.write_all(std::span(buffer).first(n)));
  }
}

task<std::string> asks(socket_address to, std::string text) {
  tcp_stream one = skua::or_throw(co_await tcp_stream::connect(to));
  co_await send_text(one, text);
  co_await one.shutdown_write();
  co_return co_await read_to_end(one);
}

TEST_P(servers, serve_until_told_to_end) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    skua::event end;
    auto client = [](socket_address to, skua::event& finished) -> task<> {
      std::vector<skua::join_handle<std::string>> all;
      for (int i = 0; i < 50; ++i) all.push_back(spawn(asks(to, "hello " + std::to_string(i))));
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(co_await std::move(all[static_cast<std::size_t>(i)]),
                  "hello " + std::to_string(i));
      finished.set();
    };
    auto clients = spawn(client, address_of(at), std::ref(end));
    const auto ended = co_await serve(at, echo<tcp_stream>, serve_options(), end.wait());
    const serve_report how = skua::or_throw(ended);
    EXPECT_EQ(how.accepted, 50U);
    EXPECT_EQ(how.succeeded, 50U);
    EXPECT_EQ(how.open(), 0U);
    co_await std::move(clients);
    EXPECT_TRUE(at.local_address().has_value()) << "borrowed, and still open";
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(servers, serve_unix_listeners_and_own_what_was_moved_to_them) {
  auto rt = start();
  auto body = []() -> task<> {
    auto at =
        skua::or_throw(net::unix_listener::bind("unix:@skua-serve-" + std::to_string(::getpid())));
    const socket_address where = address_of(at);
    skua::event end;
    skua::event let_go;
    auto handler = [&let_go](net::unix_stream peer) -> task<> {
      co_await send_text(peer, "hold on");
      co_await let_go.wait();
    };
    auto server = spawn(serve(std::move(at), std::move(handler), serve_options(), wait_for(end)));
    auto near = skua::or_throw(co_await net::unix_stream::connect(where));
    EXPECT_EQ(co_await read_text(near), "hold on");
    end.set();
    std::error_code late;
    for (int i = 0; i < 60'000 && !late; ++i) {
      co_await skua::sleep(1ms);
      late = error_of(co_await net::unix_stream::connect(where));
    }
    EXPECT_EQ(late, std::errc::connection_refused)
        << "newcomers are refused while the others finish";
    let_go.set();
    const serve_report how = skua::or_throw(co_await std::move(server));
    EXPECT_GE(how.succeeded, 1U);  // one who was accepted late may have gone before it was served
  };
  rt.block_on(body());
}

TEST_P(servers, accept_nobody_beyond_the_limit) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    skua::event end;
    serve_counters counters;
    const auto how = serve_options().max_connections(2).count_in(counters);
    auto server = spawn(serve(at, echo<tcp_stream>, how, wait_for(end)));
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 4; ++i) {
      clients.push_back(skua::or_throw(co_await tcp_stream::connect(address_of(at))));
      co_await send_text(clients.back(), "hi");
    }
    EXPECT_EQ(co_await read_text(clients[0]), "hi");
    EXPECT_EQ(co_await read_text(clients[1]), "hi");
    skua_test::room<8> into;
    const auto none = co_await skua::timeout(20ms, clients[2].read(into.span()));
    EXPECT_EQ(error_of(none), std::errc::timed_out) << "it waits in the queue";
    EXPECT_EQ(counters.snapshot().accepted, 2U);
    EXPECT_EQ(counters.snapshot().open(), 2U);
    co_await clients[0].close();
    EXPECT_EQ(co_await read_text(clients[2]), "hi") << "its turn";
    EXPECT_EQ(counters.snapshot().accepted, 3U);
    co_await clients[1].close();
    EXPECT_EQ(co_await read_text(clients[3]), "hi");
    co_await clients[2].close();
    co_await clients[3].close();
    end.set();
    const serve_report report = skua::or_throw(co_await std::move(server));
    EXPECT_EQ(report.accepted, 4U);
    EXPECT_EQ(report.succeeded, 4U);
  };
  rt.block_on(body());
}

TEST_P(servers, survive_handlers_that_fail) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    skua::event end;
    auto handler = [](tcp_stream peer) -> task<skua::result<int>> {
      const std::string what = co_await read_text(peer);
      if (what == "throw") throw std::runtime_error("on purpose");
      if (what == "odd") throw 7;
      if (what == "fail") co_return skua::fail(std::errc::protocol_error);
      if (what == "late") co_return skua::fail(std::errc::timed_out);
      co_await send_text(peer, "well");
      co_return 1;
    };
    auto server = spawn(serve(at, handler, serve_options(), wait_for(end)));
    for (const char* const what : {"throw", "fail", "odd", "late", "throw"})
      EXPECT_EQ(co_await asks(address_of(at), what), "");
    EXPECT_EQ(co_await asks(address_of(at), "x"), "well");
    end.set();
    const serve_report how = skua::or_throw(co_await std::move(server));
    EXPECT_EQ(how.accepted, 6U);
    EXPECT_EQ(how.threw, 3U);
    EXPECT_EQ(how.failed, 1U);
    EXPECT_EQ(how.timed_out, 1U);
    EXPECT_EQ(how.succeeded, 1U);
  };
  rt.block_on(body());
  const auto said = log.with("a handler has thrown");
  ASSERT_GE(said.size(), 1U);
  EXPECT_LE(said.size(), 3U);
  EXPECT_EQ(said[0].fields.at("what"), "on purpose");
}

/// Notices when a handler has gone.
struct presence {
  explicit presence(std::atomic<int>& count) : of(count) { ++of; }
  presence(const presence&) = delete;
  presence& operator=(const presence&) = delete;
  ~presence() { --of; }
  std::atomic<int>& of;
};

/// Two who are connected when the end is asked for; the first leaves then, the second if told to.
task<serve_report> drained(skua::time_span length, bool second_leaves) {
  tcp_listener at = loopback_listener();
  skua::event end;
  std::atomic<int> present = 0;
  auto handler = [&present](tcp_stream peer) -> task<> {
    const presence here(present);
    co_await read_to_end(peer);
  };
  const auto how = serve_options().drain_time(length);
  auto server = spawn(serve(at, handler, how, wait_for(end)));
  tcp_stream first = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
  tcp_stream second = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
  EXPECT_TRUE(co_await comes_true([&present] { return present == 2; }));
  end.set();
  co_await skua::yield();
  co_await first.close();
  if (second_leaves) co_await second.close();
  const serve_report report = skua::or_throw(co_await std::move(server));
  EXPECT_EQ(present, 0) << "nobody outlives it";
  if (!second_leaves) {
    EXPECT_EQ(co_await read_text(second), "") << "closed when its handler was stopped";
  }
  co_return report;
}

TEST_P(servers, let_handlers_finish_and_then_stop_them) {
  auto rt = start();
  const serve_report patient = rt.block_on(drained(1h, true));
  EXPECT_EQ(patient.succeeded, 2U);
  EXPECT_EQ(patient.stopped, 0U);
  const serve_report hasty = rt.block_on(drained(50ms, false));
  EXPECT_EQ(hasty.succeeded + hasty.stopped, 2U);
  EXPECT_GE(hasty.stopped, 1U) << "and the first, if it had no time for its end";
}

TEST_P(servers, tell_handlers_that_the_end_was_asked_for) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    skua::event end;
    std::atomic<int> present = 0;
    auto handler = [&present](tcp_stream peer, skua::cancel_token closing) -> task<> {
      const presence here(present);
      const auto got = co_await closing.guard(read_text(peer));
      EXPECT_EQ(error_of(got), std::errc::operation_canceled);
      co_await send_text(peer, "bye");
    };
    auto server = spawn(serve(at, handler, serve_options().drain_time(60s), wait_for(end)));
    tcp_stream near = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
    EXPECT_TRUE(co_await comes_true([&present] { return present == 1; }));
    end.set();
    EXPECT_EQ(co_await read_to_end(near), "bye");
    EXPECT_EQ(skua::or_throw(co_await std::move(server)).succeeded, 1U);
  };
  rt.block_on(body());
}

TEST_P(servers, stop_connections_that_take_too_long) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    skua::event end;
    const auto how = serve_options().connection_time(20ms);
    auto server = spawn(serve(at, echo<tcp_stream>, how, wait_for(end)));
    tcp_stream near = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
    EXPECT_EQ(co_await read_to_end(near), "") << "closed after a while";
    end.set();
    EXPECT_EQ(skua::or_throw(co_await std::move(server)).timed_out, 1U);

    skua::event later;
    const auto patient = serve_options().connection_time(1h);
    auto other = spawn(serve(at, echo<tcp_stream>, patient, wait_for(later)));
    EXPECT_EQ(co_await asks(address_of(at), "hi"), "hi");
    later.set();
    const serve_report report = skua::or_throw(co_await std::move(other));
    EXPECT_EQ(report.timed_out, 0U);
    EXPECT_EQ(report.succeeded, 1U);
  };
  rt.block_on(body());
}

TEST_P(servers, are_stopped_like_any_task) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    std::atomic<int> present = 0;
    auto handler = [&present](tcp_stream peer) -> task<> {
      const presence here(present);
      co_await read_to_end(peer);
    };
    auto server = spawn(serve(at, handler));
    const auto near = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
    EXPECT_TRUE(co_await comes_true([&present] { return present == 1; }));
    server.abort();
    const auto how = co_await server.outcome();
    EXPECT_TRUE(how.stopped());
    EXPECT_EQ(present, 0) << "their handlers first";
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(servers, pass_on_what_the_end_throws) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    auto breaks = []() -> task<> {
      co_await skua::sleep(1ms);
      throw std::runtime_error("no end");
    };
    bool caught = false;
    try {
      co_await serve(at, echo<tcp_stream>, serve_options(), breaks());
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
  };
  rt.block_on(body());
}

TEST_P(servers, give_the_error_that_the_wait_for_the_end_comes_to) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    auto cannot_wait = []() -> task<skua::result<int>> {
      co_await skua::yield();
      co_return skua::fail(std::errc::too_many_files_open);
    };
    const auto how = co_await serve(at, echo<tcp_stream>, serve_options(), cannot_wait());
    EXPECT_EQ(error_of(how), std::errc::too_many_files_open);
    auto was_told = []() -> task<skua::result<int>> { co_return SIGTERM; };
    EXPECT_TRUE((co_await serve(at, echo<tcp_stream>, serve_options(), was_told())).has_value());
  };
  rt.block_on(body());
}

/// Gives errors, one after the other, and connections in between.
class failing_listener {
public:
  using stream_type = tcp_stream;
  failing_listener(tcp_listener& from, std::vector<std::errc> errors)
      : from_(from), errors_(std::move(errors)) {}

  task<skua::result<tcp_stream>> accept() {
    ++tries;
    if (to_throw-- > 0) throw std::bad_alloc();  // as if there was no memory for this frame
    if (next_ < errors_.size()) co_return skua::fail(errors_[next_++]);
    co_return co_await from_.accept();
  }
  int tries = 0;
  int to_throw = 0;

private:
  tcp_listener& from_;
  std::vector<std::errc> errors_;
  std::size_t next_ = 0;
};

TEST_P(servers, go_on_after_errors_of_connections_and_end_with_those_of_the_listener) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener real = loopback_listener();
    skua::event end;
    failing_listener at(real, {std::errc::connection_aborted, std::errc::protocol_error,
                               std::errc::not_enough_memory, std::errc::too_many_files_open});
    serve_counters counters;
    auto server =
        spawn(serve(at, echo<tcp_stream>, serve_options().count_in(counters), wait_for(end)));
    EXPECT_EQ(co_await asks(address_of(real), "hi"), "hi");
    end.set();
    EXPECT_EQ(skua::or_throw(co_await std::move(server)).pauses, 2U);
    EXPECT_EQ(counters.snapshot().pauses, 2U);

    failing_listener broken(real, {std::errc::bad_file_descriptor});
    const auto how = co_await serve(broken, echo<tcp_stream>);
    EXPECT_EQ(error_of(how), std::errc::bad_file_descriptor);
    EXPECT_EQ(broken.tries, 1);
  };
  rt.block_on(body());
}

TEST_P(servers, count_pauses_while_they_last) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener real = loopback_listener();
    skua::event end;
    failing_listener at(real, std::vector(100'000, std::errc::too_many_files_open));
    serve_counters counters;
    auto server =
        spawn(serve(at, echo<tcp_stream>, serve_options().count_in(counters), wait_for(end)));
    EXPECT_TRUE(co_await comes_true([&counters] { return counters.snapshot().pauses >= 2; }));
    end.set();
    EXPECT_GE(skua::or_throw(co_await std::move(server)).pauses, 2U) << "though nobody came";
  };
  rt.block_on(body());
}

TEST_P(servers, wait_out_a_shortage_of_memory) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener real = loopback_listener();
    skua::event end;
    failing_listener at(real, {});
    at.to_throw = 2;
    auto server = spawn(serve(at, echo<tcp_stream>, serve_options(), wait_for(end)));
    const auto answer = co_await skua::timeout(60s, asks(address_of(real), "hi"));
    EXPECT_EQ(answer.value_or("none"), "hi");
    end.set();
    const serve_report how = skua::or_throw(co_await std::move(server));
    EXPECT_EQ(how.pauses, 2U);
    EXPECT_EQ(how.succeeded, 1U);
  };
  rt.block_on(body());
}

}  // namespace
