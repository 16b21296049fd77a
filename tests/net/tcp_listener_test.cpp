// tests/net/tcp_listener_test.cpp: opening ports, accepting, and waiting at descriptors of others.
#include "skua/net/tcp_listener.hpp"

#include "skua/skua.hpp"
#include "support/bound_socket.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/forked.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::accept_patience;
using net::listen_options;
using net::readiness;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::spawn;
using skua::task;
using skua_test::address_of;
using skua_test::bytes_of;
using skua_test::can_be_stopped;
using skua_test::error_of;
using skua_test::loopback_listener;
using skua_test::open_fds;
using skua_test::pipe_pair;

class listeners : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, listeners, skua_test::every_kind(), skua_test::name_of_kind);

TEST(tcp_listener, says_why_it_could_not_be_bound) {
  for (const char* const bad : {"", "7000", "localhost:80", "127.0.0.1", "[::1]", "1.2.3.4:99999"})
    EXPECT_EQ(error_of(tcp_listener::bind(bad)), std::errc::invalid_argument) << bad;
  EXPECT_EQ(error_of(tcp_listener::bind("unix:/tmp/x")), std::errc::address_family_not_supported);
  EXPECT_EQ(error_of(tcp_listener::bind("192.0.2.1:0")), std::errc::address_not_available);
  const tcp_listener taken = loopback_listener();
  EXPECT_EQ(error_of(tcp_listener::bind(address_of(taken))), std::errc::address_in_use);
  const skua_test::fd_limit none;
  EXPECT_EQ(error_of(tcp_listener::bind("127.0.0.1:0")), std::errc::too_many_files_open);
}

TEST(tcp_listener, says_that_a_port_is_not_for_everybody) {
  skua_test::forked child;
  if (child.fork()) {
    if (::setresgid(65'534, 65'534, 65'534) != 0 || ::setresuid(65'534, 65'534, 65'534) != 0)
      ::_exit(77);
    const auto made = tcp_listener::bind("127.0.0.1:1");
    if (made.has_value()) ::_exit(78);
    const std::string text = made.error().message() + "\n";
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
    ::_exit(made.error() == std::errc::permission_denied ? 0 : 1);
  }
  child.join();
  if (child.end().starts_with("status " + std::to_string(78 << 8)))
    GTEST_SKIP() << "this kernel gives low ports to everybody";
  if (child.end().starts_with("status " + std::to_string(77 << 8)))
    GTEST_SKIP() << "cannot become another user here";
  EXPECT_TRUE(child.exited_well()) << child.end();
}

TEST(tcp_listener, shares_its_port_if_all_agree) {
  const auto how = listen_options().reuse_port(true);
  const auto first = skua::or_throw(tcp_listener::bind("127.0.0.1:0", how));
  EXPECT_TRUE(tcp_listener::bind(address_of(first), how).has_value());
  EXPECT_EQ(error_of(tcp_listener::bind(address_of(first))), std::errc::address_in_use);
}

TEST_P(listeners, can_be_opened_again_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    const socket_address where = address_of(at);
    {
      auto near = skua::or_throw(co_await tcp_stream::connect(where));
      auto far = skua::or_throw(co_await at.accept());
      co_await far.close();  // ends first, so that its port is remembered for a while
      EXPECT_EQ(co_await skua_test::read_to_end(near), "");
    }
    EXPECT_TRUE((co_await at.close()).has_value());
    EXPECT_EQ(error_of(co_await at.accept()), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(tcp_listener::bind(where, listen_options().reuse_address(false))),
              std::errc::address_in_use);
    EXPECT_TRUE(tcp_listener::bind(where).has_value());
  };
  rt.block_on(body());
}

TEST_P(listeners, of_ipv6_take_ipv4_unless_told_not_to) {
  auto rt = start();
  auto body = []() -> task<bool> {
    auto both = tcp_listener::bind("[::]:0");
    if (!both) co_return false;
    const std::uint16_t port = address_of(*both).port();
    const socket_address v4(net::ip_address::v4_loopback(), port);
    auto near = co_await tcp_stream::connect(v4);
    EXPECT_TRUE(near.has_value()) << error_of(near).message();
    auto far = skua::or_throw(co_await both->accept());
    EXPECT_TRUE(skua::or_throw(far.peer_address()).ip().is_v4_mapped());
    // At a port that is ours by IPv4, too, and deaf there; by IPv6 another process may have it.
    skua::result<tcp_listener> only = skua::fail(std::errc::address_in_use);
    std::optional<skua_test::bound_socket> deaf;
    for (int i = 0; i < 10 && !only.has_value(); ++i) {
      deaf.emplace(SOCK_STREAM, net::ip_address::v4_loopback());
      const socket_address same(net::ip_address::v6_any(), deaf->address.port());
      only = tcp_listener::bind(same, listen_options().v6only(true));
    }
    EXPECT_TRUE(only.has_value()) << error_of(only).message();
    const auto refused = co_await tcp_stream::connect(deaf->address);
    EXPECT_EQ(error_of(refused), std::errc::connection_refused);
    co_return true;
  };
  if (!rt.block_on(body())) GTEST_SKIP() << "no IPv6 here";
}

TEST_P(listeners, pass_nodelay_on_and_are_closed_on_exec) {
  auto rt = start();
  auto body = []() -> task<> {
    auto at = skua::or_throw(tcp_listener::bind("127.0.0.1:0", listen_options().nodelay(true)));
    const auto near = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
    const auto far = skua::or_throw(co_await at.accept());
    EXPECT_TRUE(far.nodelay().value_or(false));
    for (const int fd : {at.get(), near.get(), far.get()})
      EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  };
  rt.block_on(body());
}

task<std::size_t> accepts(tcp_listener& at) {
  auto got = co_await at.accept();
  co_return got.has_value() ? 1U : 0U;
}

TEST_P(listeners, are_made_of_raw_descriptors) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener first = loopback_listener();
    skua::unique_fd raw = first.release();
    ::fcntl(raw.get(), F_SETFL, O_NONBLOCK);  // as others pass them on
    tcp_listener at = skua::or_throw(tcp_listener::from_descriptor(std::move(raw)));
    EXPECT_EQ(::fcntl(at.get(), F_GETFL) & O_NONBLOCK, 0) << "some kernels do not wait otherwise";
    EXPECT_TRUE(co_await can_be_stopped(accepts(at)));
    auto near = spawn(tcp_stream::connect(address_of(at)));
    EXPECT_TRUE((co_await at.accept()).has_value());
    EXPECT_TRUE((co_await std::move(near)).has_value());
    EXPECT_EQ(error_of(tcp_listener::from_descriptor(skua_test::new_socket(AF_INET))),
              std::errc::invalid_argument)
        << "it does not listen";
    EXPECT_EQ(error_of(tcp_listener::from_descriptor(skua_test::new_socket(AF_UNIX))),
              std::errc::address_family_not_supported);
  };
  rt.block_on(body());
}

TEST_P(listeners, lose_no_connection_when_a_task_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    EXPECT_TRUE(co_await can_be_stopped(accepts(at)));
    const std::size_t before = open_fds();
    for (int i = 0; i < 100; ++i) {  // a stop and a connection at the same time
      auto one = spawn(accepts, std::ref(at));
      if (i % 2 == 0) co_await skua::yield();
      const auto near = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
      one.abort();
      const auto how = co_await one.outcome();
      if (how.has_value()) continue;
      const auto next = co_await skua::timeout(60s, at.accept());
      EXPECT_TRUE(next.has_value()) << "what the stopped one did not take is still there";
    }
    EXPECT_EQ(open_fds(), before);
  };
  rt.block_on(body());
}

TEST_P(listeners, serve_several_tasks_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    std::vector<skua::join_handle<std::size_t>> all;
    for (int i = 0; i < 8; ++i) all.push_back(spawn(accepts, std::ref(at)));
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 8; ++i)
      clients.push_back(skua::or_throw(co_await tcp_stream::connect(address_of(at))));
    for (auto& one : all) EXPECT_EQ(co_await std::move(one), 1U);
    EXPECT_EQ(error_of(co_await skua::timeout(0s, at.readable())), std::errc::timed_out);
    const auto one_more = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
    EXPECT_TRUE((co_await at.readable()).has_value());
    EXPECT_TRUE((co_await at.readable()).has_value()) << "it takes none";
    EXPECT_EQ(co_await accepts(at), 1U);
  };
  rt.block_on(body());
}

TEST_P(listeners, wait_out_a_shortage_of_descriptors) {
  auto rt = start();
  const auto begin = std::chrono::steady_clock::now();
  auto body = []() -> task<std::uint64_t> {
    tcp_listener at = loopback_listener();
    const auto near = skua::or_throw(co_await tcp_stream::connect(address_of(at)));
    accept_patience patience;
    std::optional<skua_test::fd_limit> none(std::in_place);
    EXPECT_EQ(error_of(co_await at.accept()), std::errc::too_many_files_open);
    auto patiently = spawn(
        [](tcp_listener& from, accept_patience& with) -> task<bool> {
          const auto got = co_await net::accept_patiently(from, with);
          co_return got.has_value();
        },
        std::ref(at), std::ref(patience));
    co_await skua::sleep(60ms);
    EXPECT_FALSE(patiently.done());
    none.reset();
    EXPECT_TRUE(co_await std::move(patiently));
    co_return patience.pauses();
  };
  const std::size_t before = open_fds();
  const std::uint64_t pauses = rt.block_on(body());
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(pauses, 1U);
  EXPECT_LE(pauses, static_cast<std::uint64_t>(took / 10ms)) << "it pauses, and does not spin";
  EXPECT_GE(log.count("cannot accept"), 1U);
  EXPECT_LE(log.count("cannot accept"), 1U + static_cast<std::size_t>(took / 10s));
  EXPECT_EQ(open_fds(), before);
}

TEST(accept_patience, tells_whose_fault_it_was) {
  using advice = accept_patience::advice;
  accept_patience one;
  const auto after = [&one](std::errc why) { return one.after(std::make_error_code(why)); };
  EXPECT_EQ(after(std::errc::connection_aborted), advice::again);
  EXPECT_EQ(after(std::errc::host_unreachable), advice::again);
  EXPECT_EQ(after(std::errc::bad_file_descriptor), advice::give_up);
  EXPECT_EQ(after(std::errc::invalid_argument), advice::give_up);
  EXPECT_EQ(after(std::errc::operation_not_supported), advice::give_up);
  EXPECT_EQ(one.after(make_error_code(skua::errc::closed)), advice::give_up);
  EXPECT_EQ(one.pauses(), 0U);
  for (const std::errc shortage :
       {std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
        std::errc::not_enough_memory, std::errc::no_buffer_space,
        std::errc::resource_unavailable_try_again})
    EXPECT_EQ(after(shortage), advice::pause);
  EXPECT_EQ(one.pauses(), 5U);
  EXPECT_EQ(one.pause(), skua::time_span(100ms)) << "10, 20, 40, 80 and no longer than";
  one.succeeded();
  EXPECT_EQ(after(std::errc::too_many_files_open), advice::pause);
  EXPECT_EQ(one.pause(), skua::time_span(10ms));
  one.succeeded();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(after(std::errc::connection_aborted), advice::again);
  EXPECT_EQ(after(std::errc::connection_aborted), advice::pause) << "even these never spin";
}

// --- descriptors of others

TEST_P(listeners, and_others_are_waited_at) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    const readiness out = readiness::borrow(pipe.out());
    const readiness in = readiness::borrow(pipe.in());
    EXPECT_NE((co_await in.writable()).value_or(0) & POLLOUT, 0U);
    auto waits = [](const readiness& at) -> task<std::uint32_t> {
      co_return skua::or_throw(co_await at.readable());
    };
    EXPECT_TRUE(co_await can_be_stopped(waits(out)));
    auto first = spawn(waits, std::cref(out));
    auto second = spawn(waits, std::cref(out));
    co_await skua::sleep(1ms);
    EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
    EXPECT_NE(co_await std::move(first) & POLLIN, 0U);
    EXPECT_NE(co_await std::move(second) & POLLIN, 0U) << "all who wait";
    EXPECT_NE(co_await waits(out) & POLLIN, 0U) << "as long as it holds";
    pipe.close_in();
    EXPECT_NE(co_await waits(out) & POLLHUP, 0U);
    EXPECT_EQ(error_of(co_await readiness::borrow(-1).readable()), std::errc::bad_file_descriptor);

    pipe_pair other;
    readiness owner = readiness::own(other.take_in());
    const int number = owner.get();
    EXPECT_NE((co_await owner.wait(POLLOUT)).value_or(0), 0U);
    readiness moved = std::move(owner);
    EXPECT_EQ(moved.get(), number);
    EXPECT_EQ(owner.get(), -1);
    skua::unique_fd back = moved.release();
    EXPECT_EQ(back.get(), number);
    EXPECT_EQ(moved.get(), -1);
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST(tcp_listener_misuse, is_found) {
  skua_test::forked child;
  if (child.fork()) {
    auto rt = skua_test::started(skua_test::alone.settings());
    auto body = []() -> task<> {
      tcp_listener at = loopback_listener();
      auto waits = spawn(accepts, std::ref(at));
      co_await skua::sleep(1ms);
      const tcp_listener moved = std::move(at);
    };
    rt.block_on(body());
    ::_exit(0);
  }
  child.join();
  EXPECT_TRUE(child.aborted()) << child.end();
  EXPECT_NE(child.said().find("stays where it is"), std::string::npos) << child.said();
}

}  // namespace
