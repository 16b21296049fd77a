// tests/runtime/config_test.cpp: settings that make no sense are refused by name, others are taken.
#include "skua/runtime/config.hpp"

#include "skua/skua.hpp"
#include "support/log_recorder.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using skua::config;
using skua::flavour;
using skua::runtime;

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max() - 1;

/// Makes one setting of an otherwise good configuration bad.
struct bad_setting {
  const char* field;
  void (*spoil)(config& settings);
};

const std::vector<bad_setting> bad_settings{
    {"config::flavour", [](config& c) { c.flavour = static_cast<skua::flavour>(7); }},
    {"config::order", [](config& c) { c.order = static_cast<skua::order>(2); }},
    {"config::order",
     [](config& c) {
       c.flavour = flavour::current_thread;
       c.order = skua::order::lifo;
     }},
    {"config::workers", [](config& c) { c.workers = 0; }},
    {"config::workers", [](config& c) { c.workers = 1'025; }},
    {"config::workers", [](config& c) { c.workers = huge; }},
    {"config::workers",
     [](config& c) {
       c.flavour = flavour::current_thread;
       c.workers = 2;
     }},
    {"config::workers",
     [](config& c) {
       c.flavour = flavour::current_thread;
       c.workers = 0;
     }},
    {"config::name", [](config& c) { c.name = "thirty-three bytes are one too many"; }},
    {"config::name", [](config& c) { c.name = "123456789012345678901234567890123"; }},
    {"config::event_interval", [](config& c) { c.event_interval = 0; }},
    {"config::event_interval", [](config& c) { c.event_interval = 1'000'001; }},
    {"config::global_queue_interval", [](config& c) { c.global_queue_interval = 0; }},
    {"config::global_queue_interval", [](config& c) { c.global_queue_interval = 1; }},
    {"config::global_queue_interval", [](config& c) { c.global_queue_interval = 1'000'001; }},
    {"config::global_queue_interval", [](config& c) { c.global_queue_interval = huge; }},
    {"config::budget", [](config& c) { c.budget = 0; }},
    {"config::budget", [](config& c) { c.budget = 1'000'001; }},
    {"config::spawn_queue_limit", [](config& c) { c.spawn_queue_limit = 0; }},
    {"config::blocking_threads", [](config& c) { c.blocking_threads = 0; }},
    {"config::blocking_threads", [](config& c) { c.blocking_threads = 32'769; }},
    {"config::blocking_threads", [](config& c) { c.blocking_threads = huge; }},
    {"config::linger", [](config& c) { c.linger = -1; }},
    {"config::linger", [](config& c) { c.linger = 10'000'001; }},
    {"config::blocking_keep_alive", [](config& c) { c.blocking_keep_alive = -1; }},
    {"config::virtual_time", [](config& c) { c.virtual_time = true; }},
    {"config::virtual_time",
     [](config& c) {
       static const skua::manual_clock other;
       c.flavour = flavour::current_thread;
       c.virtual_time = true;
       c.clock = &other;
     }},
    {"config::unhandled", [](config& c) { c.unhandled = static_cast<skua::unhandled>(9); }},
};

TEST(settings, that_make_no_sense_are_refused_by_name) {
  for (const bad_setting& one : bad_settings) {
    config settings;
    settings.workers = 1;
    one.spoil(settings);
    const auto refused = runtime::start(settings);
    ASSERT_FALSE(refused.has_value()) << one.field;
    EXPECT_EQ(refused.error().code(), std::errc::invalid_argument);
    EXPECT_TRUE(refused.error().message().starts_with(std::string(one.field) + " "))
        << refused.error().message();
  }
}

TEST(settings, at_their_limits_are_taken) {
  const auto works = [](void (*change)(config&)) {
    config settings;
    settings.workers = 1;
    change(settings);
    auto started = runtime::start(settings);
    ASSERT_TRUE(started.has_value()) << started.error().message();
    EXPECT_EQ(started->block_on([] { return 7; }), 7);
  };
  works([](config& c) { c.workers = 16; });
  works([](config& c) { c.name = "12345678901234567890123456789012"; });
  works([](config& c) { c.name = ""; });
  works([](config& c) { c.event_interval = 1; });
  works([](config& c) { c.event_interval = 1'000'000; });
  works([](config& c) { c.global_queue_interval = 2; });
  works([](config& c) { c.global_queue_interval = 1'000'000; });
  works([](config& c) { c.budget = 1; });
  works([](config& c) { c.budget = 1'000'000; });
  works([](config& c) { c.spawn_queue_limit = 1; });
  works([](config& c) { c.spawn_queue_limit = huge; });
  works([](config& c) { c.blocking_threads = 1; });
  works([](config& c) { c.blocking_threads = 32'768; });
  works([](config& c) { c.linger = 0; });
  works([](config& c) { c.linger = 10'000'000; });
  works([](config& c) { c.blocking_keep_alive = 0; });
  works([](config& c) { c.blocking_keep_alive = std::numeric_limits<std::int64_t>::max(); });
  works([](config& c) { c.order = skua::order::lifo; });
  works([](config& c) { c.lifo_slot = false; });
  works([](config& c) { c.histograms = true; });
  works([](config& c) {
    c.flavour = flavour::current_thread;
    c.workers = config::automatic;
  });
}

TEST(settings, of_the_blocking_pool_at_their_limits_serve_calls) {
  for (const std::int64_t keep_alive :
       {std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
    config settings;
    settings.workers = 1;
    settings.blocking_keep_alive = keep_alive;
    auto started = runtime::start(settings);
    ASSERT_TRUE(started.has_value());
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(started->block_on(skua::spawn_blocking([i] { return i; })), i);
  }
}

TEST(settings, of_a_builder_reach_the_runtime) {
  skua_test::log_recorder log;
  auto built = runtime::builder().workers(3).name("abc").budget(5).log(log.logger()).build();
  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->metrics().workers.size(), 3U);
  const auto refused = runtime::builder().workers(0).build();
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("workers"), std::string_view::npos);
}

TEST(settings, the_name_is_copied) {
  std::string name = "short-lived";
  auto built = runtime::builder().workers(1).name(name).build();
  name = "overwritten";
  name.clear();
  name.shrink_to_fit();
  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->block_on(skua::spawn_blocking([] { return 1; })), 1);  // names another thread
}

/// The CPUs that this process may use, put back when it ends.
class one_cpu {
public:
  one_cpu() {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
      if (CPU_ISSET(i, &before_)) CPU_SET(i, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  one_cpu(const one_cpu&) = delete;
  one_cpu& operator=(const one_cpu&) = delete;
  ~one_cpu() { EXPECT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0); }

  [[nodiscard]] std::size_t before() const { return static_cast<std::size_t>(CPU_COUNT(&before_)); }

private:
  cpu_set_t before_;
};

TEST(workers, are_one_for_each_cpu_by_default) {
  std::size_t workers_on_one = 0;
  std::size_t cpus = 0;
  {
    const one_cpu only;
    cpus = only.before();
    auto narrow = runtime::start(config());
    ASSERT_TRUE(narrow.has_value());
    workers_on_one = narrow->metrics().workers.size();
  }
  EXPECT_EQ(workers_on_one, 1U);
  auto wide = runtime::start(config());
  ASSERT_TRUE(wide.has_value());
  EXPECT_GE(wide->metrics().workers.size(), 1U);
  EXPECT_LE(wide->metrics().workers.size(), cpus) << "fewer only by a cgroup's quota";
}

TEST(workers, of_a_current_thread_runtime_are_one) {
  auto alone = runtime::builder().flavour(flavour::current_thread).build();
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->metrics().workers.size(), 1U);
}

}  // namespace
