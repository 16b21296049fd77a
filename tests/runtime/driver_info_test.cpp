// tests/runtime/driver_info_test.cpp: which driver a runtime took, and why, as data and in the log.
#include "skua/driver/driver_info.hpp"

#include "skua/skua.hpp"
#include "support/log_recorder.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using skua_test::started;

/// What the test was told to expect by whoever runs it in a sandbox; empty if nothing.
std::string_view expected() {
  const char* const name = std::getenv("SKUA_EXPECTED_DRIVER");
  return name == nullptr ? std::string_view() : std::string_view(name);
}

TEST(driver_info, tells_the_choice_and_the_reason) {
  skua_test::log_recorder log;
  skua::config settings;
  settings.workers = 2;
  settings.log = log.logger(skua::log_level::debug);
  auto rt = started(settings);
  const skua::driver_info info = rt.driver_info();
  const std::string name(name_of(info.used));
  const std::string reason(info.reason());
  std::printf("driver %s: %s (%u, %u entries)\n", name.c_str(), reason.c_str(),
              info.submission_entries, info.completion_entries);
  EXPECT_FALSE(reason.empty());
  EXPECT_EQ(rt.metrics().driver, info.used);
  EXPECT_EQ(info.used == skua::backend::uring, info.submission_entries > 0);
  const auto records = log.with("chosen its driver");
  ASSERT_EQ(records.size(), 1U) << "once";
  EXPECT_EQ(records[0].fields.at("driver"), name);
  EXPECT_EQ(records[0].fields.at("reason"), reason);
  EXPECT_EQ(records[0].level, info.fell_back ? skua::log_level::info : skua::log_level::debug);
  if (!expected().empty()) {
    EXPECT_EQ(name, expected());
    EXPECT_EQ(info.fell_back, expected() == "epoll");
  }
}

TEST(driver_info, says_who_asked_for_it) {
  for (const skua::backend wanted : {skua::backend::epoll, skua::backend::none}) {
    skua::config settings;
    settings.backend = wanted;
    auto rt = started(settings);
    EXPECT_EQ(rt.driver_info().used, wanted);
    EXPECT_FALSE(rt.driver_info().fell_back);
    EXPECT_EQ(rt.driver_info().reason(), "config::backend asks for it");
  }
}

TEST(driver_info, a_driver_that_is_asked_for_and_does_not_work_is_an_error) {
  if (expected() != "epoll") GTEST_SKIP() << "io_uring works here";
  skua::config settings;
  settings.backend = skua::backend::uring;
  const auto refused = skua::runtime::start(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("the uring driver does not work here"),
            std::string_view::npos)
      << refused.error().message();
}

}  // namespace
