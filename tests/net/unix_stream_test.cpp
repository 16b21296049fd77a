// tests/net/unix_stream_test.cpp: Unix streams, datagrams, listeners, and descriptors on their way.
#include "skua/net/unix_stream.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/streams.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::unix_datagram;
using net::unix_listener;
using net::unix_stream;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::address_of;
using skua_test::bytes_of;
using skua_test::can_be_stopped;
using skua_test::error_of;
using skua_test::open_fds;
using skua_test::pipe_pair;
using skua_test::read_text;
using skua_test::read_to_end;
using skua_test::room;
using skua_test::send_text;
using skua_test::temp_directory;
using skua_test::text_of;

class unix_sockets : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, unix_sockets, skua_test::every_kind(), skua_test::name_of_kind);

/// Under an abstract name that nobody else has.
std::string some_name() {
  static int last = 0;
  return "unix:@skua-test-" + std::to_string(::getpid()) + "-" + std::to_string(++last);
}

task<> talks_through(unix_listener& at) {
  unix_stream near = skua::or_throw(co_await unix_stream::connect(address_of(at)));
  unix_stream far = skua::or_throw(co_await at.accept());
  co_await send_text(near, "there");
  EXPECT_EQ(co_await read_text(far), "there");
  co_await far.shutdown_write();
  EXPECT_EQ(co_await read_to_end(near), "");
  EXPECT_EQ(skua::or_throw(near.peer_address()), address_of(at));
}

TEST_P(unix_sockets, connect_by_path_and_by_name) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory where;
    unix_listener at = skua::or_throw(unix_listener::bind(where / "socket"));
    co_await talks_through(at);
    unix_listener abstract = skua::or_throw(unix_listener::bind(some_name()));
    co_await talks_through(abstract);
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(unix_sockets, say_why_they_could_not_connect) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory where;
    const auto at = skua::or_throw(socket_address::unix_path(where / "socket"));
    EXPECT_EQ(error_of(co_await unix_stream::connect(at)), std::errc::no_such_file_or_directory);
    {
      auto once = skua::or_throw(unix_listener::bind(at));
      const unique_fd closed = once.release();
    }
    EXPECT_EQ(error_of(co_await unix_stream::connect(at)), std::errc::connection_refused);
    EXPECT_EQ(
        error_of(co_await unix_stream::connect(socket_address(net::ip_address::v4_loopback(), 1))),
        std::errc::address_family_not_supported);
    const auto other = skua::or_throw(unix_datagram::bind(where / "datagrams"));
    EXPECT_EQ(error_of(co_await unix_stream::connect(address_of(other))),
              std::errc::wrong_protocol_type);
  };
  rt.block_on(body());
}

TEST_P(unix_sockets, wait_for_room_in_the_queue_of_a_listener) {
  auto rt = start();
  auto body = []() -> task<> {
    const net::unix_listen_options one = net::unix_listen_options().backlog(0);
    unix_listener at = skua::or_throw(unix_listener::bind(some_name(), one));
    std::vector<skua::join_handle<skua::result<unix_stream>>> all;
    for (int i = 0; i < 4; ++i) all.push_back(spawn(unix_stream::connect(address_of(at))));
    co_await skua::sleep(5ms);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE((co_await at.accept()).has_value());
    for (auto& each : all) {
      const auto made = co_await std::move(each);
      EXPECT_TRUE(made.has_value()) << error_of(made).message();
    }
    const auto first = co_await unix_stream::connect(address_of(at));
    EXPECT_TRUE(first.has_value());
    EXPECT_TRUE(co_await can_be_stopped(unix_stream::connect(address_of(at))));
  };
  rt.block_on(body());
}

TEST_P(unix_sockets, know_who_is_there) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_stream::pair());
    const auto who = skua::or_throw(near.credentials());
    EXPECT_EQ(who.process, ::getpid());
    EXPECT_EQ(who.user, ::getuid());
    EXPECT_EQ(who.group, ::getgid());
    co_await send_text(far, "me");
    EXPECT_EQ(co_await read_text(near), "me");
  };
  rt.block_on(body());
}

// --- descriptors on their way

TEST_P(unix_sockets, pass_descriptors_on) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_stream::pair());
    pipe_pair pipe;
    const std::array<int, 2> sent = {pipe.in(), pipe.out()};
    const auto bytes = co_await near.send_with_fds(bytes_of("two"), sent);
    EXPECT_EQ(bytes.value_or(0), 3U);
    pipe.close_in();
    pipe.close_out();
    room<16> into;
    std::array<unique_fd, 4> fds;
    const auto got = skua::or_throw(co_await far.recv_with_fds(into.span(), fds));
    EXPECT_EQ(got.bytes(), 3U);
    EXPECT_EQ(got.fds(), 2U);
    EXPECT_FALSE(got.truncated());
    EXPECT_FALSE(fds[2]);
    for (std::size_t i = 0; i < got.fds(); ++i)
      EXPECT_NE(::fcntl(fds[i].get(), F_GETFD) & FD_CLOEXEC, 0);
    co_await skua::io::write(fds[0].get(), bytes_of("through"));
    const auto read = co_await skua::io::read(fds[1].get(), into.span());
    EXPECT_EQ(into.text(read), "through");

    const auto plain = co_await near.send_with_fds(bytes_of("none"), {});
    EXPECT_EQ(plain.value_or(0), 4U);
    const auto none = skua::or_throw(co_await far.recv_with_fds(into.span(), fds));
    EXPECT_EQ(none.fds(), 0U);
    EXPECT_TRUE(fds[0]) << "places that are not needed stay as they are";
    co_await near.shutdown_write();
    const auto end = skua::or_throw(co_await far.recv_with_fds(into.span(), fds));
    EXPECT_EQ(end.bytes(), 0U);
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(unix_sockets, have_room_for_descriptors_however_often_they_are_awaited) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_stream::pair());
    const std::array<int, 1> sent = {near.get()};
    room<1> into;
    std::array<unique_fd, 1> fds;
    auto receive = far.recv_with_fds(into.span(), fds);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE((co_await near.send_with_fds(bytes_of("x"), sent)).has_value());
      const auto got = skua::or_throw(co_await receive);
      EXPECT_EQ(got.fds(), 1U);
      EXPECT_FALSE(got.truncated());
    }
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(unix_sockets, leak_no_descriptor_that_found_no_place) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_stream::pair());
    const pipe_pair pipe;
    const std::array<int, 3> sent = {pipe.in(), pipe.in(), pipe.in()};
    const std::size_t before = open_fds();
    room<16> into;
    for (const std::size_t places : {0U, 1U, 2U}) {
      skua::or_throw(co_await near.send_with_fds(bytes_of("x"), sent));
      std::vector<unique_fd> fds(places);
      const auto got = skua::or_throw(co_await far.recv_with_fds(into.span(), fds));
      EXPECT_EQ(got.bytes(), 1U);
      EXPECT_EQ(got.fds(), places);
      EXPECT_TRUE(got.truncated());
      EXPECT_EQ(open_fds(), before + places);
    }
    skua::or_throw(co_await near.send_with_fds(bytes_of("x"), sent));
    EXPECT_EQ(co_await read_text(far), "x");
    EXPECT_EQ(open_fds(), before) << "a plain read closes them";
    const std::vector<int> most(net::most_passed_fds, pipe.in());
    skua::or_throw(co_await near.send_with_fds(bytes_of("x"), most));
    std::vector<unique_fd> all(net::most_passed_fds + 1);
    const auto got = skua::or_throw(co_await far.recv_with_fds(into.span(), all));
    EXPECT_EQ(got.fds(), net::most_passed_fds);
    EXPECT_FALSE(got.truncated());
  };
  rt.block_on(body());
}

TEST_P(unix_sockets, leak_no_descriptor_when_a_task_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_stream::pair());
    const pipe_pair pipe;
    const std::array<int, 1> sent = {pipe.in()};
    const std::size_t before = open_fds();
    auto receives = [](unix_stream& from) -> task<std::size_t> {
      room<16> into;
      std::array<unique_fd, 1> fds;
      const auto got = skua::or_throw(co_await from.recv_with_fds(into.span(), fds));
      co_return got.fds();
    };
    EXPECT_TRUE(co_await can_be_stopped(receives(far)));
    int kept = 0;
    for (int i = 0; i < 100; ++i) {  // a stop and a message at the same time
      auto one = spawn(receives, std::ref(far));
      if (i % 2 == 0) co_await skua::yield();
      skua::or_throw(co_await near.send_with_fds(bytes_of("x"), sent));
      one.abort();
      const auto how = co_await one.outcome();
      if (how.has_value()) {
        ++kept;
        continue;
      }
      EXPECT_EQ(co_await receives(far), 1U) << "what the stopped one did not take is still there";
    }
    EXPECT_EQ(open_fds(), before) << "received by " << kept;
  };
  rt.block_on(body());
}

TEST_P(unix_sockets, refuse_descriptors_that_are_none) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_stream::pair());
    const std::array<int, 1> none = {999'999};
    EXPECT_EQ(error_of(co_await near.send_with_fds(bytes_of("x"), none)),
              std::errc::bad_file_descriptor);
    co_await send_text(near, "fine");
    EXPECT_EQ(co_await read_text(far), "fine") << "nothing of the other one was sent";
  };
  rt.block_on(body());
}

// --- datagrams

task<std::string> received(unix_datagram& from) {
  room<64> into;
  const auto got = co_await from.recv(into.span());
  co_return into.text(got);
}

TEST_P(unix_sockets, send_datagrams) {
  auto rt = start();
  auto body = []() -> task<> {
    const temp_directory where;
    auto server = skua::or_throw(unix_datagram::bind(where / "server"));
    auto client = skua::or_throw(unix_datagram::bind(where / "client"));
    auto nameless = skua::or_throw(unix_datagram::unbound());
    skua::or_throw(co_await client.send_to(bytes_of("from a path"), address_of(server)));
    skua::or_throw(co_await nameless.send_to(bytes_of("x"), address_of(server)));
    room<64> into;
    const auto got = skua::or_throw(co_await server.recv_from(into.span()));
    EXPECT_EQ(text_of(into.span().first(got.size())), "from a path");
    EXPECT_EQ(got.from(), address_of(client));
    const auto anonymous = skua::or_throw(co_await server.recv_from(into.span().first(0)));
    EXPECT_TRUE(anonymous.truncated());
    EXPECT_EQ(anonymous.sent_size(), 1U);
    EXPECT_TRUE(anonymous.from().path().empty());

    auto [near, far] = skua::or_throw(unix_datagram::pair());
    const std::array<int, 1> sent = {near.get()};
    const auto bytes = co_await near.send_with_fds(bytes_of("with one"), sent);
    EXPECT_EQ(bytes.value_or(0), 8U);
    std::array<unique_fd, 1> fds;
    const auto cut = skua::or_throw(co_await far.recv_with_fds(into.span().first(4), fds));
    EXPECT_EQ(cut.fds(), 1U);
    EXPECT_TRUE(cut.truncated()) << "its bytes";
    EXPECT_TRUE(co_await can_be_stopped(received(far)));
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(unix_sockets, wait_for_a_receiver_that_is_slow) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = skua::or_throw(unix_datagram::pair());
    auto sends = [](unix_datagram& to) -> task<> {
      for (int i = 0; i < 1'000; ++i) skua::or_throw(co_await to.send(bytes_of("one of many")));
    };
    auto sender = spawn(sends, std::ref(near));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(sender.done());
    room<64> into;
    for (int i = 0; i < 1'000; ++i) {
      const auto got = co_await far.recv(into.span());
      EXPECT_EQ(got.value_or(0), 11U);
    }
    co_await std::move(sender);
  };
  rt.block_on(body());
}

// --- files

TEST(unix_listener, removes_its_file_and_no_other) {
  const temp_directory where;
  const std::string path = where / "socket";
  {
    auto at = skua::or_throw(unix_listener::bind(path));
    EXPECT_TRUE(std::filesystem::is_socket(path));
    EXPECT_EQ(error_of(unix_listener::bind(path)), std::errc::address_in_use);
    EXPECT_TRUE(std::filesystem::is_socket(path)) << "who could not bind removes nothing";
    auto moved = std::move(at);
    EXPECT_TRUE(std::filesystem::is_socket(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const auto at = skua::or_throw(unix_listener::bind(path));
    std::filesystem::remove(path);
    const std::ofstream other(path);
  }
  EXPECT_TRUE(std::filesystem::is_regular_file(path)) << "that of somebody else";
  EXPECT_EQ(error_of(unix_listener::bind(path, net::unix_listen_options().replace_stale(true))),
            std::errc::address_in_use);
  std::filesystem::remove(path);
  unique_fd raw;
  {
    auto at = skua::or_throw(unix_listener::bind("unix:" + path));
    raw = at.release();
  }
  EXPECT_TRUE(std::filesystem::is_socket(path)) << "given away with the descriptor";
  {
    const auto again = skua::or_throw(unix_listener::from_descriptor(std::move(raw)));
    EXPECT_EQ(address_of(again).path(), path);
  }
  EXPECT_TRUE(std::filesystem::is_socket(path)) << "not ours";
}

TEST(unix_listener, replaces_a_socket_at_which_nobody_listens) {
  const temp_directory where;
  const std::string path = where / "socket";
  {
    const unique_fd crashed = skua::or_throw(unix_listener::bind(path)).release();
  }
  EXPECT_EQ(error_of(unix_listener::bind(path)), std::errc::address_in_use);
  const auto replace = net::unix_listen_options().replace_stale(true);
  const auto at = unix_listener::bind(path, replace);
  EXPECT_TRUE(at.has_value()) << error_of(at).message();
  EXPECT_EQ(error_of(unix_listener::bind(path, replace)), std::errc::address_in_use)
      << "somebody listens";
}

TEST(unix_listener, says_who_may_connect) {
  const temp_directory where;
  const std::string path = where / "socket";
  const auto at = unix_listener::bind(path, net::unix_listen_options().permissions(0600));
  EXPECT_TRUE(at.has_value());
  struct stat about{};
  EXPECT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST(unix_listener, says_why_it_could_not_be_bound) {
  const temp_directory where;
  EXPECT_EQ(error_of(unix_listener::bind(where / "no/such")), std::errc::no_such_file_or_directory);
  EXPECT_EQ(error_of(unix_listener::bind(std::string(200, 'x'))), std::errc::filename_too_long);
  EXPECT_EQ(error_of(unix_listener::bind("")), std::errc::invalid_argument);
  EXPECT_EQ(error_of(unix_listener::bind(socket_address(net::ip_address(), 1))),
            std::errc::address_family_not_supported);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  EXPECT_EQ(error_of(unix_listener::bind("/proc/skua")), std::errc::permission_denied);
}

TEST(unix_datagram, removes_its_file) {
  const temp_directory where;
  const std::string path = where / "socket";
  {
    const auto at = unix_datagram::bind(path);
    EXPECT_TRUE(at.has_value());
    EXPECT_EQ(error_of(unix_datagram::bind(path)), std::errc::address_in_use);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(unix_stream, is_made_of_raw_descriptors) {
  skua_test::socket_pair streams;
  skua_test::socket_pair datagrams(SOCK_DGRAM);
  EXPECT_TRUE(unix_stream::from_descriptor(unique_fd(::dup(streams.first()))).has_value());
  EXPECT_EQ(error_of(unix_stream::from_descriptor(unique_fd(::dup(datagrams.first())))),
            std::errc::wrong_protocol_type);
  EXPECT_TRUE(unix_datagram::from_descriptor(unique_fd(::dup(datagrams.first()))).has_value());
  EXPECT_EQ(error_of(unix_datagram::from_descriptor(unique_fd(::dup(streams.first())))),
            std::errc::wrong_protocol_type);
  EXPECT_EQ(error_of(unix_listener::from_descriptor(unique_fd(::dup(streams.first())))),
            std::errc::invalid_argument)
      << "it does not listen";
}

}  // namespace
