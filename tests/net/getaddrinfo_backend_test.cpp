// tests/net/getaddrinfo_backend_test.cpp: questions to the C library, and what errors are called.
#include "net/dns_backend.hpp"
#include "skua/net/dns_error.hpp"
#include "skua/net/resolver.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/long_call.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::spawn;
using skua::task;
using skua::net::dns_errc;
using skua::net::ip_address;
using skua::net::ip_family;
using skua::net::resolver;
using skua::net::resolver_options;
using skua_test::error_of;
using addresses = std::vector<ip_address>;

class getaddrinfo_backend : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, getaddrinfo_backend, skua_test::every_kind(),
                         skua_test::name_of_kind);

TEST_P(getaddrinfo_backend, asks_the_c_library) {
  auto rt = start();
  auto body = []() -> task<> {
    const resolver_options options;
    const auto backend = skua::net::make_getaddrinfo_backend(options);
    EXPECT_STREQ(backend->name(), "getaddrinfo");
    const auto query = backend->ask("localhost", ip_family::v4);
    auto found = co_await query->run();
    EXPECT_EQ(found.value().addresses, addresses{ip_address::v4_loopback()});
    EXPECT_EQ(found->ttl, options.unknown_ttl());
    auto again = co_await query->run();
    EXPECT_TRUE(again.has_value()) << "asks once more";
    const std::string too_long(64, 'a');  // no label: nobody is asked
    const auto none = backend->ask(too_long, ip_family::v4);
    const auto error = error_of(co_await none->run());
    EXPECT_TRUE(error == dns_errc::not_found || error == dns_errc::server_failure) << error;
    resolver_options with_servers;
    with_servers.servers({skua::net::socket_address(ip_address::v4_loopback(), 53)});
    const auto other = skua::net::make_getaddrinfo_backend(with_servers);
    const auto refused = other->ask("localhost", ip_family::v4);
    EXPECT_EQ(error_of(co_await refused->run()), std::errc::operation_not_supported);
  };
  rt.block_on(body());
}

TEST_P(getaddrinfo_backend, goes_on_for_the_next_when_a_task_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    const resolver_options options;
    const auto backend = skua::net::make_getaddrinfo_backend(options);
    auto run = [](skua::net::dns_query& what) -> task<bool> {
      const auto found = co_await what.run();
      co_return found.has_value();
    };
    for (int stage = 0; stage < 20; ++stage) {
      const auto query = backend->ask("localhost", ip_family::v4);
      auto stopped = spawn(run(*query));
      for (int i = 0; i < stage; ++i) co_await skua::yield();
      stopped.abort();
      const auto end = co_await stopped.outcome();
      EXPECT_FALSE(end.has_exception());
      const bool found = co_await run(*query);
      EXPECT_TRUE(found);
      const auto dropped = backend->ask("localhost", ip_family::v4);
      auto begun = spawn(run(*dropped));
      co_await skua::yield();
      begun.abort();
      const auto other_end = co_await begun.outcome();
      EXPECT_FALSE(other_end.has_exception());
    }
  };
  rt.block_on(body());
}

TEST_P(getaddrinfo_backend, asks_anew_where_the_runtime_that_had_asked_has_ended) {
  const auto backend = skua::net::make_getaddrinfo_backend(resolver_options());
  const auto query = backend->ask("localhost", ip_family::v4);
  {
    skua::config settings = skua_test::settings_of(GetParam(), log);
    settings.blocking_threads = 1;
    skua_test::long_call other;
    auto first = skua_test::started(settings);
    auto body = [&]() -> task<> {
      skua::spawn_background(other.run());
      while (!other.begun) co_await skua::sleep(1ms);
      auto stopped = spawn(query->run());
      while (first.metrics().blocking_depth == 0) co_await skua::sleep(1ms);
      stopped.abort();
      const auto how = co_await stopped.outcome();
      EXPECT_TRUE(how.stopped());
    };
    first.block_on(body());
    const std::jthread lets_it_end([&] {
      while (first.metrics().blocking_depth > 0) std::this_thread::sleep_for(1ms);
      other.may_end.release();  // when the call that was to come next has been taken back
    });
    EXPECT_TRUE(first.shutdown().complete());
  }
  auto rt = start();
  const auto found = rt.block_on(query->run());
  EXPECT_TRUE(found.has_value()) << error_of(found);
}

TEST_P(getaddrinfo_backend, serves_a_resolver) {
  auto rt = start();
  resolver_options options;
  options.hosts_file("");
  resolver names(options, skua::net::make_getaddrinfo_backend(options).release());
  EXPECT_STREQ(names.backend(), "getaddrinfo");
  const auto found = rt.block_on(names.lookup("127.0.0.1"));
  EXPECT_TRUE(found.has_value());
}

TEST(dns_error, has_words_for_everything) {
  const std::error_code code = dns_errc::not_found;
  EXPECT_STREQ(code.category().name(), "dns");
  EXPECT_EQ(code.message(), "no such host name");
  EXPECT_NE(code, std::errc::no_such_file_or_directory);
  EXPECT_NE(code, make_error_code(dns_errc::no_data));
  for (int i = 1; i <= static_cast<int>(dns_errc::bad_name); ++i)
    EXPECT_EQ(std::error_code(i, skua::net::dns_category()).message().find("unknown"),
              std::string::npos);
  EXPECT_EQ(std::error_code(99, skua::net::dns_category()).message(), "unknown dns error 99");
}

}  // namespace
