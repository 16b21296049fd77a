// tests/sync/blocking_test.cpp: a worker refuses to block, and other threads do not.
#include "skua/sync/blocking.hpp"

#include "skua/skua.hpp"
#include "skua/sync/mpsc.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using skua::task;

class sync_blocking : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_blocking, skua_test::every_kind(), skua_test::name_of_kind);

TEST(blocking, a_thread_of_its_own_waits) {
  auto [tx, rx] = skua::mpsc::channel<int>(1);
  EXPECT_TRUE(tx.blocking_send(1));
  EXPECT_EQ(rx.blocking_receive(), 1);
}

TEST_P(sync_blocking, a_worker_refuses_and_says_what_to_do) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = skua::mpsc::channel<int>(1);
    EXPECT_THROW((void)tx.blocking_send(1), std::logic_error);
    std::string said;
    try {
      (void)rx.blocking_receive();
    } catch (const std::logic_error& refused) {
      said = refused.what();
    }
    EXPECT_NE(said.find("blocking_receive was called on a worker"), std::string::npos);
    EXPECT_TRUE(rx.empty());
    co_return;
  };
  rt.block_on(body());
}

int through_a_channel(int value) {
  auto [tx, rx] = skua::mpsc::channel<int>(1);
  EXPECT_TRUE(tx.blocking_send(value));
  return rx.blocking_receive().value_or(-1);
}

TEST_P(sync_blocking, a_blocking_call_of_a_task_may) {
  auto rt = start();
  auto body = []() -> task<> { EXPECT_EQ(co_await skua::spawn_blocking(through_a_channel, 7), 7); };
  rt.block_on(body());
}

}  // namespace
