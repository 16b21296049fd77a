// tests/net/resolver_test.cpp: what is asked, when, how often, and what is remembered of it.
#include "skua/net/resolver.hpp"

#include "net/dns_backend.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/runtimes.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::result;
using skua::spawn;
using skua::task;
using skua::net::dns_answer;
using skua::net::dns_errc;
using skua::net::ip_address;
using skua::net::ip_family;
using skua::net::resolver;
using skua::net::resolver_options;
using skua_test::error_of;
using addresses = std::vector<ip_address>;

/// What a server knows, and what became of the questions to it. Any thread.
struct server {
  struct record {
    addresses found;
    skua::time_span ttl = 300s;
    std::error_code error = dns_errc::not_found;  // if nothing is found
  };
  std::map<std::string, record> v4;
  std::map<std::string, record> v6;

  skua::event open{true};  // answers nothing while it is not set
  std::atomic<int> runs = 0;
  std::atomic<int> alive = 0;
  std::atomic<int> most_alive = 0;
  std::atomic<int> to_throw = 0;
  std::atomic<int> not_to_begin = 0;
};

class fake_query final : public skua::net::dns_query {
public:
  fake_query(server& by, server::record what) : by_(by), what_(std::move(what)) {
    const int now = ++by_.alive;
    int most = by_.most_alive;
    while (now > most && !by_.most_alive.compare_exchange_weak(most, now)) {
    }
  }
  ~fake_query() override { --by_.alive; }

  task<result<dns_answer>> run() override {
    ++by_.runs;
    co_await by_.open.wait();
    if (by_.to_throw-- > 0) throw std::runtime_error("no question is that stupid");
    if (what_.found.empty()) co_return skua::fail(what_.error);
    co_return dns_answer(what_.found, what_.ttl);
  }

private:
  server& by_;
  const server::record what_;
};

class fake_backend final : public skua::net::dns_backend {
public:
  explicit fake_backend(server& at) : at_(at) {}
  std::unique_ptr<skua::net::dns_query> ask(const std::string& name, ip_family which) override {
    if (at_.not_to_begin-- > 0) throw std::bad_alloc();
    auto& all = which == ip_family::v4 ? at_.v4 : at_.v6;
    const auto known = all.find(name);
    return std::make_unique<fake_query>(at_, known == all.end() ? server::record() : known->second);
  }
  void reload() noexcept override {}
  [[nodiscard]] const char* name() const noexcept override { return "fake"; }

private:
  server& at_;
};

resolver_options without_hosts() {
  return resolver_options().hosts_file("");
}

/// With a server of the test's own.
struct named : server {
  explicit named(const resolver_options& options = without_hosts())
      : names(options, new fake_backend(*this)) {}
  resolver names;

  [[nodiscard]] std::uint64_t queries() const { return names.stats().queries; }
  task<addresses> find_v4(std::string name) {
    auto found = co_await names.lookup(name, ip_family::v4);
    co_return found.value_or(addresses());
  }
};

const ip_address one = ip_address::v4(192, 0, 2, 1);
const ip_address two = ip_address::v4(192, 0, 2, 2);
const ip_address six = ip_address::parse("2001:db8::6").value();

// With names, since g++ 12 takes no initializer list in an expression with co_await.
const addresses just_one = {one};
const addresses just_two = {two};
const addresses just_six = {six};
const addresses both = {one, two};
const addresses all_three = {six, one, two};
const addresses nine = {ip_address::v4(9, 9, 9, 9)};
const addresses loopbacks = {ip_address::v6_loopback(), ip_address::v4_loopback()};

class resolvers : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, resolvers, skua_test::every_kind(), skua_test::name_of_kind);

/// Until `holds`, which another task or thread brings about.
template <typename Condition>
task<> until(Condition& holds) {
  while (!holds()) co_await skua::sleep(1ms);
}

/// Two who want to know the same.
struct askers {
  askers(skua::join_handle<addresses> asks, skua::join_handle<addresses> joins)
      : first(std::move(asks)), second(std::move(joins)) {}
  skua::join_handle<addresses> first;   // has asked the server, which does not answer
  skua::join_handle<addresses> second;  // waits for what the first learns
};

task<askers> both_ask(named& server) {
  auto first = spawn(server.find_v4("x"));
  auto asked = [&] { return server.runs == 1; };
  co_await until(asked);
  auto second = spawn(server.find_v4("x"));
  auto joined = [&] { return server.names.stats().shared == 1; };
  co_await until(joined);
  co_return askers(std::move(first), std::move(second));
}

/// Knows x, and says so when it is let.
struct quiet : named {
  quiet() {
    v4["x"].found = {one};
    open.reset();
  }
};

TEST(resolver, answers_numbers_itself_and_without_a_runtime) {
  resolver names;
  EXPECT_EQ(skua::sync_wait(names.lookup("192.0.2.1")).value(), just_one);
  EXPECT_EQ(skua::sync_wait(names.lookup("2001:db8::6")).value(), just_six);
  EXPECT_EQ(skua::sync_wait(skua::net::lookup("192.0.2.1", ip_family::v4)).value(), just_one);
  EXPECT_EQ(error_of(skua::sync_wait(names.lookup("192.0.2.1", ip_family::v6))), dns_errc::no_data);
  EXPECT_EQ(error_of(skua::sync_wait(names.lookup("fe80::1%nosuch0"))), std::errc::no_such_device);
  EXPECT_EQ(names.stats().queries, 0U);
}

TEST(resolver, refuses_what_is_no_name_without_asking) {
  resolver names;
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + label.substr(0, 61);
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".a"), std::string("a..b"), std::string("a b"),
        std::string("a\0b", 3), std::string("gr\xc3\xbc\xc3\x9f.de"), label + "a", longest + "a",
        std::string(100'000, 'a'), std::string("a\n")}) {
    const auto error = error_of(skua::sync_wait(names.lookup(bad)));
    EXPECT_EQ(error, dns_errc::bad_name) << bad.substr(0, 300);
    EXPECT_EQ(error, std::errc::invalid_argument);
  }
  named at;
  at.v4[longest].found = {one};
  at.v4["_x._tcp.a."].found = {two};
  auto rt = skua_test::started(skua_test::alone.settings());
  EXPECT_EQ(rt.block_on(at.find_v4(longest)), just_one);
  EXPECT_EQ(rt.block_on(at.find_v4("_X._tcp.a.")), just_two) << "case does not count";
}

TEST_P(resolvers, find_both_versions_of_ip) {
  auto rt = start();
  named at;
  at.v4["both"].found = {one, two};
  at.v6["both"].found = {six};
  at.v4["four"].found = {one};
  at.v6["four"].error = dns_errc::no_data;
  at.v6["six"].found = {six};
  at.v4["lost"].error = dns_errc::timed_out;
  at.v4["empty"].error = dns_errc::no_data;
  auto body = [](resolver& names) -> task<> {
    EXPECT_EQ((co_await names.lookup("both")).value(), all_three);
    EXPECT_EQ((co_await names.lookup("both", ip_family::v4)).value(), both);
    EXPECT_EQ((co_await names.lookup("four")).value(), just_one);
    EXPECT_EQ((co_await names.lookup("six")).value(), just_six);
    EXPECT_EQ(error_of(co_await names.lookup("none")), dns_errc::not_found);
    EXPECT_EQ(error_of(co_await names.lookup("lost")), dns_errc::timed_out);
    EXPECT_EQ(error_of(co_await names.lookup("lost")), std::errc::timed_out);
    EXPECT_EQ(error_of(co_await names.lookup("empty")), dns_errc::no_data);
  };
  rt.block_on(body(at.names));
}

TEST_P(resolvers, ask_once_for_what_many_want_to_know) {
  auto rt = start();
  quiet at;
  auto body = [](named& server) -> task<> {
    std::vector<skua::join_handle<addresses>> all;
    for (int i = 0; i < 100; ++i) all.push_back(spawn(server.find_v4(i % 2 == 0 ? "x" : "X")));
    auto all_joined = [&] { return server.names.stats().shared == 99; };
    co_await until(all_joined);
    server.open.set();
    for (auto& each : all) EXPECT_EQ(co_await std::move(each), just_one);
    EXPECT_EQ(server.queries(), 1U);
    EXPECT_EQ(server.runs, 1);
    EXPECT_EQ(server.alive, 0);
  };
  rt.block_on(body(at));
}

TEST_P(resolvers, go_on_with_a_query_whose_first_task_was_stopped) {
  auto rt = start();
  quiet at;
  auto body = [](named& server) -> task<> {
    auto [first, second] = co_await both_ask(server);
    first.abort();
    const auto end = co_await first.outcome();
    EXPECT_TRUE(end.stopped());
    auto taken_over = [&] { return server.runs == 2; };
    co_await until(taken_over);
    EXPECT_EQ(server.alive, 1) << "it is the same one";
    server.open.set();
    EXPECT_EQ(co_await std::move(second), just_one);
    EXPECT_EQ(server.queries(), 1U);
  };
  rt.block_on(body(at));
}

TEST_P(resolvers, let_those_be_stopped_who_wait_for_others) {
  auto rt = start();
  quiet at;
  auto body = [](named& server) -> task<> {
    auto [first, second] = co_await both_ask(server);
    second.abort();
    const auto end = co_await second.outcome();
    EXPECT_TRUE(end.stopped());
    server.open.set();
    EXPECT_EQ(co_await std::move(first), just_one);
    EXPECT_EQ(server.runs, 1);
  };
  rt.block_on(body(at));
}

TEST_P(resolvers, give_a_query_up_when_nobody_wants_it) {
  auto rt = start();
  quiet at;
  auto body = [](named& server) -> task<> {
    const auto late = co_await skua::timeout(5ms, server.names.lookup("x", ip_family::v4));
    EXPECT_EQ(error_of(late), std::errc::timed_out);
    EXPECT_EQ(server.alive, 0);
    server.open.set();
    EXPECT_EQ(co_await server.find_v4("x"), just_one) << "asked anew";
    EXPECT_EQ(server.queries(), 2U);
  };
  rt.block_on(body(at));
}

TEST_P(resolvers, let_the_next_try_if_one_throws) {
  auto rt = start();
  quiet at;
  at.to_throw = 1;
  auto body = [](named& server) -> task<> {
    auto [first, second] = co_await both_ask(server);
    server.open.set();
    const auto end = co_await first.outcome();
    EXPECT_TRUE(end.has_exception());
    EXPECT_EQ(co_await std::move(second), just_one);
  };
  rt.block_on(body(at));
}

TEST_P(resolvers, lose_no_place_to_a_query_that_could_not_begin) {
  auto rt = start();
  named at(without_hosts().queries_at_once(1));
  at.v4["x"].found = {one};
  at.open.reset();
  auto body = [](named& server) -> task<> {
    auto before = spawn(server.find_v4("other"));
    auto asked = [&] { return server.runs == 1; };
    co_await until(asked);
    server.not_to_begin = 1;
    auto first = spawn(server.find_v4("x"));
    auto second = spawn(server.find_v4("x"));
    auto joined = [&] { return server.names.stats().shared == 1; };
    co_await until(joined);
    server.open.set();
    co_await std::move(before);
    const auto one_end = co_await first.outcome();
    const auto other_end = co_await second.outcome();
    EXPECT_NE(one_end.has_exception(), other_end.has_exception());
    EXPECT_NE(one_end.has_value(), other_end.has_value());
  };
  rt.block_on(body(at));
}

TEST_P(resolvers, have_no_more_queries_at_once_than_allowed) {
  auto rt = start();
  named at(without_hosts().queries_at_once(3));
  for (int i = 0; i < 40; ++i) at.v4[std::to_string(i) + ".x"].found = {one};
  at.open.reset();
  auto body = [](named& server) -> task<> {
    std::vector<skua::join_handle<addresses>> all;
    for (int i = 0; i < 40; ++i) all.push_back(spawn(server.find_v4(std::to_string(i) + ".x")));
    auto full = [&] { return server.runs == 3; };
    co_await until(full);
    all.front().abort();  // a place for another
    const auto end = co_await all.front().outcome();
    (void)end;
    all.erase(all.begin());
    auto still_full = [&] { return server.alive == 3; };
    co_await until(still_full);
    server.open.set();
    for (auto& each : all) EXPECT_EQ(co_await std::move(each), just_one);
    EXPECT_EQ(server.most_alive, 3);
  };
  rt.block_on(body(at));
}

TEST(resolver, remembers_an_answer_as_long_as_it_holds) {
  skua::testing::virtual_time([]() -> task<> {
    named at(without_hosts().longest_ttl(1h));
    at.v4["x"] = {{one}, 300s, {}};
    at.v4["long"] = {{one}, 24h, {}};
    at.v4["never"] = {{one}, 0s, {}};
    EXPECT_EQ(co_await at.find_v4("x"), just_one);
    at.v4["x"].found = {two};
    co_await skua::sleep(300s - 1ns);
    EXPECT_EQ(co_await at.find_v4("x"), just_one);
    EXPECT_EQ(at.queries(), 1U);
    EXPECT_EQ(at.names.stats().cached, 1U);
    co_await skua::sleep(1ns);
    EXPECT_EQ(co_await at.find_v4("x"), just_two) << "to look at it does not prolong it";
    EXPECT_EQ(at.queries(), 2U);

    co_await at.find_v4("long");
    co_await skua::sleep(1h);
    co_await at.find_v4("long");
    EXPECT_EQ(at.queries(), 4U) << "longest_ttl";
    co_await at.find_v4("never");
    co_await at.find_v4("never");
    EXPECT_EQ(at.queries(), 6U);
    at.names.forget();
    co_await at.find_v4("long");
    EXPECT_EQ(at.queries(), 7U);
  });
}

TEST(resolver, remembers_briefly_that_there_is_nothing) {
  skua::testing::virtual_time([]() -> task<> {
    named at(without_hosts().negative_ttl(5s));
    at.v4["down"].error = dns_errc::server_failure;
    EXPECT_EQ(error_of(co_await at.names.lookup("x", ip_family::v4)), dns_errc::not_found);
    co_await skua::sleep(4s);
    EXPECT_EQ(error_of(co_await at.names.lookup("x", ip_family::v4)), dns_errc::not_found);
    EXPECT_EQ(at.queries(), 1U);
    co_await skua::sleep(1s);
    EXPECT_EQ(error_of(co_await at.names.lookup("x", ip_family::v4)), dns_errc::not_found);
    EXPECT_EQ(at.queries(), 2U);
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(error_of(co_await at.names.lookup("down", ip_family::v4)),
                dns_errc::server_failure);
    EXPECT_EQ(at.queries(), 4U) << "that may be better the next moment";
  });
}

TEST(resolver, forgets_first_what_was_not_wanted_for_longest) {
  skua::testing::virtual_time([]() -> task<> {
    named at(without_hosts().cache_entries(3));
    for (const char* name : {"a", "b", "c", "d"}) at.v4[name].found = {one};
    for (const char* name : {"a", "b", "c", "a", "d"}) co_await at.find_v4(name);
    EXPECT_EQ(at.queries(), 4U);
    EXPECT_EQ(at.names.stats().remembered, 3U);
    for (const char* name : {"a", "c", "d"}) co_await at.find_v4(name);
    EXPECT_EQ(at.queries(), 4U);
    co_await at.find_v4("b");
    EXPECT_EQ(at.queries(), 5U);
    for (int i = 0; i < 1000; ++i) co_await at.find_v4("n" + std::to_string(i));
    EXPECT_EQ(at.names.stats().remembered, 3U);
    named none(without_hosts().cache_entries(0));
    none.v4["a"].found = {one};
    co_await none.find_v4("a");
    EXPECT_EQ(none.names.stats().remembered, 0U);
  });
}

void write_to(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

TEST_P(resolvers, read_the_hosts_file_and_read_it_again_when_it_changes) {
  auto rt = start();
  const skua_test::temp_directory here;
  const std::string path = here / "hosts";
  write_to(path,
           "# none\n\n192.0.2.1\tA.Example  alias# comment b\n  192.0.2.2 alias\r\n"
           "2001:db8::6 six\nbad line\n999.1.1.1 worse\n192.0.2.1");
  named at(resolver_options().hosts_file(path).unknown_ttl(0s));
  at.v4["alias"].found = {ip_address::v4(9, 9, 9, 9)};
  auto body = [&]() -> task<> {
    EXPECT_EQ(co_await at.find_v4("a.EXAMPLE"), just_one);
    EXPECT_EQ(co_await at.find_v4("alias"), both);
    EXPECT_EQ((co_await at.names.lookup("six")).value(), just_six);
    EXPECT_EQ(error_of(co_await at.names.lookup("alias", ip_family::v6)), dns_errc::no_data);
    EXPECT_EQ(at.queries(), 0U);
    for (const char* name : {"b", "worse", "line", "comment"})
      EXPECT_EQ(co_await at.find_v4(name), addresses());
    EXPECT_EQ(at.queries(), 4U);
    write_to(path, "192.0.2.2 a.example # changed\n");
    EXPECT_EQ(co_await at.find_v4("a.example"), just_two);
    EXPECT_EQ(std::remove(path.c_str()), 0);
    EXPECT_EQ(co_await at.find_v4("alias"), nine);
  };
  rt.block_on(body());
}

TEST_P(resolvers, read_the_hosts_file_again_if_there_was_no_descriptor_for_it) {
  auto rt = start();
  const skua_test::temp_directory here;
  const std::string path = here / "hosts";
  write_to(path, "192.0.2.1 a.example\n");
  named at(resolver_options().hosts_file(path).negative_ttl(0s));
  auto body = [&]() -> task<> {
    {
      const skua_test::fd_limit none;
      EXPECT_EQ(co_await at.find_v4("a.example"), addresses());
    }
    EXPECT_EQ(co_await at.find_v4("a.example"), just_one);
  };
  rt.block_on(body());
}

TEST_P(resolvers, know_localhost_without_asking) {
  auto rt = start();
  named at;
  auto body = [](named& server) -> task<> {
    for (const char* name : {"localhost", "LocalHost.", "x.localhost"}) {
      const auto found = (co_await server.names.lookup(name)).value();
      EXPECT_EQ(found, loopbacks) << name;
    }
    EXPECT_EQ(server.queries(), 0U);
    EXPECT_EQ(co_await server.find_v4("notlocalhost"), addresses());
    EXPECT_EQ(server.queries(), 1U);
  };
  rt.block_on(body(at));
}

TEST(resolver_death, outlives_its_lookups) {
  auto early = [] {
    auto rt = skua_test::started(skua_test::alone.settings());
    auto body = []() -> task<> {
      auto at = std::make_unique<named>();
      at->open.reset();
      auto waits = spawn(at->find_v4("x"));
      while (at->runs == 0) co_await skua::yield();
      at.reset();
    };
    rt.block_on(body());
  };
  EXPECT_DEATH(early(), "a resolver outlives its lookups");
}

}  // namespace
