// tests/driver/make_drivers_test.cpp: who decides which driver it is, and what is said about it.
#include "driver/make_drivers.hpp"

#include "skua/skua.hpp"
#include "support/driver_tools.hpp"
#include "support/fd_limit.hpp"
#include "support/open_fds.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace {

using skua::backend;
using skua::driver_settings;
using skua::make_drivers;
using skua_test::noted_operation;
using skua_test::open_fds;

class make_drivers_test : public testing::Test {
protected:
  [[nodiscard]] driver_settings wanting(backend which, std::size_t count = 1) {
    driver_settings how;
    how.wanted = which;
    how.count = count;
    how.time = &clock_;
    how.pool = &pool_;
    return how;
  }

private:
  const skua::monotonic_clock clock_;
  skua_test::fake_pool pool_;
};

/// Each drives an operation to its end.
void expect_to_work(const skua::driver_set& made) {
  for (const auto& one : made.each) {
    noted_operation op;
    one->submit(op);
    skua_test::park_until(*one, [&] { return op.ended(); });
    EXPECT_EQ(op.result, made.info.used == backend::none ? -ENOTSUP : 0);
  }
}

TEST_F(make_drivers_test, gives_what_the_settings_ask_for_whatever_the_environment_says) {
  for (const backend which : {backend::uring, backend::none}) {
    for (const char* const environment : {static_cast<const char*>(nullptr), "", "none", "uring"}) {
      const auto made = make_drivers(wanting(which, 2), environment);
      ASSERT_TRUE(made.has_value()) << made.error().message;
      EXPECT_EQ(made->each.size(), 2U);
      EXPECT_EQ(made->info.used, which);
      EXPECT_FALSE(made->info.fell_back);
      EXPECT_EQ(made->info.reason(), "config::backend asks for it");
      expect_to_work(*made);
    }
  }
}

TEST_F(make_drivers_test, asks_the_environment_if_the_settings_are_silent) {
  for (const backend which : {backend::uring, backend::none}) {
    const std::string name(skua::name_of(which));
    const auto made = make_drivers(wanting(backend::automatic), name.c_str());
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(made->info.used, which);
    EXPECT_FALSE(made->info.fell_back);
    EXPECT_EQ(made->info.reason(), "SKUA_BACKEND in the environment asks for it");
    expect_to_work(*made);
  }
}

TEST_F(make_drivers_test, chooses_by_itself_if_nobody_says_anything) {
  for (const char* const environment : {static_cast<const char*>(nullptr), "", "automatic"}) {
    const auto made = make_drivers(wanting(backend::automatic, 3), environment);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(made->each.size(), 3U);
    EXPECT_NE(made->info.used, backend::automatic);
    EXPECT_NE(made->info.used, backend::none);
    EXPECT_EQ(made->info.fell_back, made->info.used == backend::epoll);
    EXPECT_NE(made->info.reason(), "");
    expect_to_work(*made);
  }
}

TEST_F(make_drivers_test, refuses_what_has_no_such_name) {
  for (const char* const environment : {"io_uring", "URING", " none", "epoll ", "x"}) {
    const auto made = make_drivers(wanting(backend::automatic), environment);
    ASSERT_FALSE(made.has_value()) << environment;
    EXPECT_EQ(made.error().error, EINVAL);
    EXPECT_NE(made.error().message.find("SKUA_BACKEND"), std::string::npos);
  }
}

TEST_F(make_drivers_test, tells_about_the_rings) {
  driver_settings how = wanting(backend::uring);
  how.rings = {.submissions = 20, .completions = 100};
  const auto made = make_drivers(how, nullptr);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->info.submission_entries, 32U) << "rounded up by the kernel";
  EXPECT_EQ(made->info.completion_entries, 128U);
  const auto none = make_drivers(wanting(backend::none), nullptr);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->info.submission_entries, 0U);
  EXPECT_EQ(none->info.completion_entries, 0U);
  EXPECT_FALSE(none->info.ring_send_zero_copy || none->info.ring_futex);
}

TEST_F(make_drivers_test, opens_nothing_if_there_is_to_be_no_backend) {
  const std::size_t before = open_fds();
  const auto made = make_drivers(wanting(backend::none, 4), nullptr);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(open_fds(), before);
}

TEST_F(make_drivers_test, leaves_nothing_behind) {
  const std::size_t before = open_fds();
  {
    const auto made = make_drivers(wanting(backend::automatic, 4), nullptr);
    ASSERT_TRUE(made.has_value());
    EXPECT_GT(open_fds(), before);
  }
  EXPECT_EQ(open_fds(), before);
}

// Descriptors for some of them only, so that some are made and have to go again.
TEST_F(make_drivers_test, fails_for_all_if_one_cannot_be_had) {
  const std::size_t before = open_fds();
  for (const std::size_t more : {0U, 1U, 2U, 3U}) {
    for (const backend which : {backend::uring, backend::automatic}) {
      auto made = [&] {
        const skua_test::fd_limit few(more);
        return make_drivers(wanting(which, 4), nullptr);
      }();
      ASSERT_FALSE(made.has_value()) << more;
      if (which == backend::uring) {
        EXPECT_EQ(made.error().error, EMFILE);
        EXPECT_NE(made.error().message.find("uring"), std::string::npos) << made.error().message;
      }
      EXPECT_EQ(open_fds(), before);
    }
  }
}

}  // namespace
