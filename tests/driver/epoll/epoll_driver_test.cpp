// tests/driver/epoll/epoll_driver_test.cpp: each operation ends once; a wake is never lost.
#include "driver/epoll/epoll_driver.hpp"

#include "skua/base/random.hpp"
#include "support/budget.hpp"
#include "support/driven_epoll.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua::op_code;
using skua::op_request;
using skua_test::noted_op;
using skua_test::parked;
using skua_test::pipe_pair;
using skua_test::request;
using skua_test::socket_pair;
using skua_test::tcp_pair;

class epoll_driver : public skua_test::driven_epoll {};

void wait_for_end(const noted_op& op) {
  while (op.ends() == 0) std::this_thread::yield();
}

TEST_F(epoll_driver, ends_at_once_what_need_not_wait) {
  noted_op nop(request(op_code::nop, -1));
  driver->submit(nop);
  EXPECT_EQ(nop.ends(), 1);
  EXPECT_FALSE(driver->cancel(nop));
  EXPECT_FALSE(driver->glance(skua::driver::no_limit)) << "once";
  EXPECT_EQ(nop.ends(), 1);
}

TEST_F(epoll_driver, hands_over_no_more_than_there_is_room_for) {
  std::deque<pipe_pair> pipes(8);
  std::deque<noted_op> all;
  for (const pipe_pair& one : pipes) all.emplace_back(request(op_code::poll, one.out()));
  for (noted_op& one : all) one.mode = POLLIN;
  for (noted_op& one : all) driver->submit(one);
  for (const pipe_pair& one : pipes) ASSERT_EQ(::write(one.in(), "x", 1), 1);
  const auto ends = [&] {
    return std::ranges::count_if(all, [](const noted_op& one) { return one.ends() > 0; });
  };
  EXPECT_EQ(ends(), 0);
  driver->park(3);
  EXPECT_EQ(ends(), 3);
  driver->park(1);
  EXPECT_EQ(ends(), 4);
  driver->poll();
  EXPECT_EQ(ends(), 8);
}

TEST_F(epoll_driver, hands_over_what_has_its_result_however_much_is_ready) {
  pipe_pair busy;
  std::deque<noted_op> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(request(op_code::poll, busy.out())).mode = POLLIN;
  for (noted_op& one : all) driver->submit(one);
  tcp_pair pair;
  std::string into(8, ' ');
  noted_op reads(request(op_code::recv, pair.first(), into, true));
  driver->submit(reads);
  noted_op closes(request(op_code::close, pair.take_first().release()));
  driver->submit(closes);
  ASSERT_EQ(::write(busy.in(), "x", 1), 1);
  driver->look(1);
  EXPECT_EQ(reads.ends(), 1);
  EXPECT_EQ(reads.result, -EBADF);
  while (all.back().ends() == 0) driver->poll();
}

TEST_F(epoll_driver, sleeps_until_something_is_ready) {
  pipe_pair pipe;
  std::string into(8, ' ');
  noted_op reads(request(op_code::read, pipe.out(), into));
  driver->submit(reads);
  std::thread writer([&] { EXPECT_EQ(::write(pipe.in(), "abc", 3), 3); });
  while (reads.ends() == 0) driver->park(skua::driver::no_limit);
  EXPECT_EQ(reads.result, 3);
  writer.join();
}

TEST_F(epoll_driver, lets_go_of_what_waits) {
  tcp_pair pair;
  std::string into(8, ' ');
  noted_op reads(request(op_code::recv, pair.first(), into, true));
  driver->submit(reads);
  EXPECT_TRUE(driver->cancel(reads));
  EXPECT_FALSE(driver->cancel(reads));
  pair.send("abc");
  drive_a_little();
  EXPECT_EQ(reads.ends(), 0);
  noted_op again(request(op_code::recv, pair.first(), into, true));
  EXPECT_EQ(result_of_new(again), 3);
}

TEST_F(epoll_driver, lets_go_when_the_time_is_up) {
  pipe_pair pipe;
  std::string into(8, ' ');
  for (const std::int64_t length : {3 * millisecond, std::int64_t{0}, -millisecond}) {
    noted_op reads(request(op_code::read, pipe.out(), into));
    const std::int64_t when = reads.expiry().deadline = clock.now() + length;
    driver->submit(reads);
    while (reads.ends() == 0) driver->park(skua::driver::no_limit);
    EXPECT_EQ(reads.result, -ECANCELED);
    EXPECT_TRUE(reads.timed_out);
    EXPECT_GE(clock.now(), when);
  }
  EXPECT_EQ(::write(pipe.in(), "abc", 3), 3);
  noted_op one_chance(request(op_code::read, pipe.out(), into));
  one_chance.expiry().deadline = clock.now() - millisecond;
  EXPECT_EQ(result_of_new(one_chance), 3);
  EXPECT_FALSE(one_chance.timed_out);
}

TEST_F(epoll_driver, forgets_the_timeout_of_what_has_ended) {
  tcp_pair pair;
  std::string into(8, ' ');
  {
    noted_op reads(request(op_code::recv, pair.first(), into, true));
    reads.expiry().deadline = clock.now() + 3'600'000 * millisecond;
    driver->submit(reads);
    pair.send("abc");
    EXPECT_EQ(result_of(reads), 3);
    noted_op cancelled(request(op_code::recv, pair.first(), into, true));
    cancelled.expiry().deadline = reads.expiry().deadline;
    driver->submit(cancelled);
    EXPECT_TRUE(driver->cancel(cancelled));
  }  // a timer dies linked in no wheel
}

TEST_F(epoll_driver, is_woken_by_what_another_thread_submits) {
  pipe_pair pipe;
  std::string into(8, ' ');
  const parked owner(*driver);
  for (int i = 0; i < 200; ++i) {
    noted_op nop(request(op_code::nop, -1));
    driver->submit(nop);
    wait_for_end(nop);
    noted_op times_out(request(op_code::read, pipe.out(), into));
    times_out.expiry().deadline = clock.now() + millisecond / 10;
    driver->submit(times_out);
    wait_for_end(times_out);
    EXPECT_TRUE(times_out.timed_out);
    noted_op reads(request(op_code::read, pipe.out(), into));
    driver->submit(reads);
    EXPECT_EQ(::write(pipe.in(), "abc", 3), 3);
    wait_for_end(reads);
    EXPECT_EQ(reads.result, 3);
  }
}

TEST_F(epoll_driver, is_woken_though_another_thread_looks_in_its_place) {
  pipe_pair pipe;
  std::string into(8, ' ');
  noted_op waits(request(op_code::read, pipe.out(), into));
  driver->submit(waits);
  std::atomic<bool> over = false;
  std::vector<std::thread> look;
  for (int i = 0; i < 2; ++i)
    look.emplace_back([&] {
      while (!over) driver->poll();
    });
  {
    const parked owner(*driver);
    for (int i = 0; i < 2'000; ++i) {
      const int before = owner.returns();
      driver->wake();
      while (owner.returns() == before) std::this_thread::yield();
    }
  }
  over = true;
  for (std::thread& one : look) one.join();
  EXPECT_TRUE(driver->cancel(waits));
}

TEST_F(epoll_driver, fires_timers) {
  static std::atomic<int> fired;
  fired = 0;
  skua::timer soon([](skua::timer&) noexcept { ++fired; });
  soon.deadline = clock.now() + millisecond;
  driver->add(soon);
  while (fired == 0) driver->park(skua::driver::no_limit);
  EXPECT_GE(clock.now(), soon.deadline);
  soon.deadline = clock.now() + 3'600'000 * millisecond;
  driver->add(soon);
  EXPECT_TRUE(driver->remove(soon));
  EXPECT_FALSE(driver->remove(soon));
}

TEST_F(epoll_driver, moves_much_between_two_that_wait_for_each_other) {
  for (const bool owned : {true, false}) {
    tcp_pair pair;
    std::string from(4 << 20, 'x');
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7 / 3);
    std::string to(from.size(), ' ');
    std::size_t sent = 0;
    std::size_t got = 0;
    std::deque<noted_op> all;
    const auto next = [&](op_code code, int fd, char* at, std::size_t left) -> noted_op& {
      op_request what = request(code, fd, owned);
      what.address = at;
      what.length = left;
      noted_op& made = all.emplace_back(what);
      driver->submit(made);
      return made;
    };
    noted_op* sends = &next(op_code::send, pair.second(), from.data(), from.size());
    noted_op* reads = &next(op_code::recv, pair.first(), to.data(), to.size());
    while (got < to.size()) {
      const bool both_wait = reads->ends() == 0 && (sends == nullptr || sends->ends() == 0);
      if (both_wait) driver->park(skua::driver::no_limit);
      if (sends != nullptr && sends->ends() == 1) {
        ASSERT_GT(sends->result, 0);
        sent += static_cast<std::size_t>(sends->result);
        sends = sent == from.size()
                    ? nullptr
                    : &next(op_code::send, pair.second(), from.data() + sent, from.size() - sent);
      }
      if (reads->ends() == 0) continue;
      ASSERT_GT(reads->result, 0);
      got += static_cast<std::size_t>(reads->result);
      if (got < to.size())
        reads = &next(op_code::recv, pair.first(), to.data() + got, to.size() - got);
    }
    EXPECT_EQ(from, to);
  }
}

/// Sends single bytes and receives them, cancels some, lets others run into a timeout; and expects
/// of each that it ends once or not at all, and that no byte is lost.
void use_from_a_thread(skua::epoll_driver& sends_to, skua::epoll_driver& reads_from,
                       const tcp_pair& pair, bool owned, std::uint64_t seed) {
  const skua::monotonic_clock clock;
  skua::random_generator random(seed);
  const skua_test::budget time(0.5);
  int sent = 0;
  int got = 0;
  while (time.left()) {
    std::string byte = "x";
    std::string into(4, ' ');
    noted_op writes(request(op_code::send, pair.second(), byte, owned));
    noted_op reads(request(op_code::recv, pair.first(), into, owned));
    if (random.below(3) == 0)
      reads.expiry().deadline = clock.now() + static_cast<std::int64_t>(random.below(100'000));
    reads_from.submit(reads);
    if (random.below(4) != 0) {
      sends_to.submit(writes);
      ++sent;
    } else if (reads.expiry().deadline == skua::no_deadline) {
      if (random.below(2) == 0) std::this_thread::yield();
    }
    const bool cancels = sent == got || random.below(3) == 0;
    const bool cancelled = cancels && reads_from.cancel(reads);
    if (!cancelled) wait_for_end(reads);
    if (!cancelled && reads.result > 0) got += reads.result;
    if (!cancelled && reads.result <= 0) {
      EXPECT_EQ(reads.result, -ECANCELED);
    }
    if (writes.home != nullptr) wait_for_end(writes);
    EXPECT_EQ(reads.ends(), cancelled ? 0 : 1);
  }
  std::string rest(64, ' ');
  while (got < sent) {
    noted_op reads(request(op_code::recv, pair.first(), rest, owned));
    reads_from.submit(reads);
    wait_for_end(reads);
    ASSERT_GT(reads.result, 0);
    got += reads.result;
  }
  EXPECT_EQ(got, sent);
}

TEST_F(epoll_driver, ends_each_operation_once_whoever_submits_and_cancels) {
  const parked one(*driver);
  const parked two(*other);
  std::vector<std::thread> users;
  std::array<tcp_pair, 4> pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    users.emplace_back([&, i] {
      use_from_a_thread(*(i % 2 == 0 ? driver : other), *driver, pairs[i], i < 2, 20'260'301 + i);
    });
  for (std::thread& user : users) user.join();
}

}  // namespace
