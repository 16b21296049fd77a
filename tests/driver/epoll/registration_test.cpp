// tests/driver/epoll/registration_test.cpp: what is concluded from events, and from their absence.
#include "support/driven_epoll.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace {

using skua::fd_entry;
using skua::op_code;
using skua_test::noted_op;
using skua_test::pipe_pair;
using skua_test::request;
using skua_test::socket_pair;
using skua_test::tcp_pair;
using interest = fd_entry::interest;

class registration : public skua_test::driven_epoll {
protected:
  fd_entry& entry_of(int fd) { return *fds.find(fd); }
  /// Submits, and sees that it does not end.
  void wait_with(noted_op& op) {
    driver->submit(op);
    drive_a_little();
    EXPECT_EQ(op.ends(), 0);
  }
};

TEST_F(registration, of_an_owned_descriptor_is_made_once) {
  tcp_pair pair;
  std::string into(16, ' ');
  std::uint32_t generation = 0;
  for (int i = 0; i < 5; ++i) {
    noted_op reads(request(op_code::recv, pair.first(), into, true));
    driver->submit(reads);
    EXPECT_EQ(reads.at, skua::operation::place::in_kernel);
    const fd_entry& entry = entry_of(pair.first());
    if (i == 0) generation = entry.generation;
    EXPECT_EQ(entry.generation, generation);
    EXPECT_EQ(entry.kind, interest::ever);
    EXPECT_EQ(entry.where, driver.get());
    pair.send("abc");
    EXPECT_EQ(result_of(reads), 3);
    EXPECT_EQ(entry.may_try & skua::readable, 0) << "less than asked for: nothing is left";
  }
}

TEST_F(registration, spares_a_try_that_must_fail) {
  tcp_pair pair;
  std::string into(16, ' ');
  noted_op first(request(op_code::recv, pair.first(), into, true));
  driver->submit(first);
  pair.send("1");
  EXPECT_EQ(result_of(first), 1);
  pipe_pair silent;
  noted_op listens(request(op_code::read, silent.out(), into));  // without it nobody takes events
  driver->submit(listens);
  // Behind the back of the entry, so that it can be seen that nobody looks.
  pair.send("2");
  drive_a_little();
  entry_of(pair.first()).may_try = skua::writable;
  noted_op second(request(op_code::recv, pair.first(), into, true));
  wait_with(second);
  pair.send("3");
  EXPECT_EQ(result_of(second), 2);
  EXPECT_TRUE(driver->cancel(listens));
}

TEST_F(registration, tries_on_when_all_that_was_asked_for_came) {
  tcp_pair pair;
  std::string into(2, ' ');
  noted_op first(request(op_code::recv, pair.first(), into, true));
  driver->submit(first);
  pair.send("abcd");
  EXPECT_EQ(result_of(first), 2);
  noted_op second(request(op_code::recv, pair.first(), into, true));
  EXPECT_EQ(result_of_new(second), 2);
  EXPECT_EQ(into, "cd");
}

TEST_F(registration, does_not_lose_an_end_that_came_with_the_last_bytes) {
  tcp_pair pair;
  std::string into(16, ' ');
  noted_op first(request(op_code::recv, pair.first(), into, true));
  driver->submit(first);
  pair.send("bye");
  EXPECT_EQ(::shutdown(pair.second(), SHUT_WR), 0);
  EXPECT_EQ(result_of(first), 3);
  noted_op second(request(op_code::recv, pair.first(), into, true));
  EXPECT_EQ(result_of_new(second), 0);
}

TEST_F(registration, concludes_nothing_where_messages_have_borders) {
  socket_pair pair;
  std::string into(16, ' ');
  noted_op first(request(op_code::recv, pair.first(), into, true));
  driver->submit(first);
  EXPECT_EQ(::send(pair.second(), "abc", 3, 0), 3);
  EXPECT_EQ(result_of(first), 3);
  EXPECT_NE(entry_of(pair.first()).may_try & skua::readable, 0);
}

TEST_F(registration, survives_that_a_number_is_closed_and_used_again) {
  std::string into(8, ' ');
  pipe_pair keeps_the_number;
  const int number = ::fcntl(keeps_the_number.out(), F_DUPFD_CLOEXEC, 0);
  for (int i = 0; i < 5; ++i) {
    pipe_pair pipe;
    ASSERT_EQ(::dup3(pipe.out(), number, O_CLOEXEC), number);  // closes what had it
    noted_op reads(request(op_code::read, number, into));
    wait_with(reads);
    EXPECT_EQ(entry_of(number).kind, interest::once);
    EXPECT_EQ(::write(pipe.in(), "abc", 3), 3);
    EXPECT_EQ(result_of(reads), 3);
    noted_op cancelled(request(op_code::read, number, into));
    wait_with(cancelled);
    EXPECT_TRUE(driver->cancel(cancelled));
  }
  ::close(number);
}

TEST_F(registration, of_an_earlier_file_is_not_listened_to) {
  tcp_pair pair;
  std::string into(8, ' ');
  noted_op reads(request(op_code::recv, pair.first(), into, true));
  driver->submit(reads);
  ++entry_of(pair.first()).generation;
  pair.send("a");
  drive_a_little();
  EXPECT_EQ(reads.ends(), 0);
  --entry_of(pair.first()).generation;
  pair.send("b");
  EXPECT_EQ(result_of(reads), 2);
}

TEST_F(registration, serves_each_line_in_order) {
  tcp_pair pair;
  std::string one(1, ' ');
  std::string two(1, ' ');
  noted_op first(request(op_code::recv, pair.first(), one, true));
  noted_op second(request(op_code::recv, pair.first(), two, true));
  driver->submit(first);
  other->submit(second);
  pair.send("a");
  EXPECT_EQ(result_of(first), 1);
  drive_a_little();
  EXPECT_EQ(second.ends(), 0);
  pair.send("b");
  EXPECT_EQ(result_of(second), 1);
  EXPECT_EQ(one + two, "ab");
}

TEST_F(registration, serves_both_directions_of_a_raw_descriptor) {
  socket_pair pair;
  std::string much(1 << 20, 'x');
  std::string into(4, ' ');
  noted_op fills(request(op_code::send, pair.first(), much));
  EXPECT_GT(result_of_new(fills), 0);
  noted_op one(request(op_code::send, pair.first(), much));
  noted_op two(request(op_code::send, pair.first(), much));
  noted_op reads(request(op_code::recv, pair.first(), into));
  noted_op watches(request(op_code::poll, pair.first()));
  watches.mode = POLLIN;
  for (noted_op* const op : {&one, &two, &reads, &watches}) wait_with(*op);
  EXPECT_EQ(::send(pair.second(), "abcd", 4, 0), 4);
  EXPECT_EQ(result_of(reads), 4);
  std::string out(1 << 20, ' ');
  for (int i = 0; i < 1'000 && two.ends() == 0; ++i) {
    EXPECT_GE(::recv(pair.second(), out.data(), out.size(), MSG_DONTWAIT), -1);
    driver->poll();
    if (one.ends() == 0) {
      EXPECT_EQ(two.ends(), 0) << "overtaken";
    }
  }
  EXPECT_GT(result_of(one), 0);
  EXPECT_GT(result_of(two), 0);
  if (watches.ends() == 0) {
    EXPECT_TRUE(driver->cancel(watches)) << "the bytes were taken";
  }
}

TEST_F(registration, goes_back_and_forth_between_owned_and_raw_use) {
  tcp_pair pair;
  std::string into(8, ' ');
  for (const bool owned : {true, false, true, true, false, false, true}) {
    noted_op reads(request(op_code::recv, pair.first(), into, owned));
    wait_with(reads);
    EXPECT_EQ(entry_of(pair.first()).kind, owned ? interest::ever : interest::once);
    pair.send("ab");
    EXPECT_EQ(result_of(reads), 2);
  }
}

TEST_F(registration, of_a_number_holds_for_its_owner_only) {
  tcp_pair before;
  tcp_pair after;
  const int number = before.first();
  std::string into(8, ' ');
  noted_op reads(request(op_code::recv, number, into, true));
  wait_with(reads);
  before.send("ab");
  EXPECT_EQ(result_of(reads), 2);
  EXPECT_EQ(entry_of(number).may_try & skua::readable, 0);
  after.send("there before");
  ASSERT_EQ(::dup2(after.first(), number), number)
      << "the first is closed behind the driver's back";
  noted_op again(request(op_code::recv, number, into, true));
  again.owner = 2;
  EXPECT_EQ(result_of_new(again), 8) << "what nobody could read is another file's";
  noted_op rest(request(op_code::recv, number, into, true));
  rest.owner = 2;
  EXPECT_EQ(result_of_new(rest), 4);
  noted_op waits(request(op_code::recv, number, into, true));
  waits.owner = 2;
  wait_with(waits);
  EXPECT_EQ(entry_of(number).owner, 2U);
  after.send("now");
  EXPECT_EQ(result_of(waits), 3);
}

TEST_F(registration, serves_what_was_submitted_to_another_driver) {
  tcp_pair pair;
  std::string into(1, ' ');
  noted_op first(request(op_code::recv, pair.first(), into, true));
  noted_op second(request(op_code::recv, pair.first(), into, true));
  noted_op third(request(op_code::recv, pair.first(), into, true));
  second.expiry().deadline = clock.now() + 2 * millisecond;
  third.expiry().deadline = clock.now() + 3'600'000 * millisecond;
  driver->submit(first);
  other->submit(second);
  other->submit(third);
  EXPECT_EQ(result_of(second), -ECANCELED);
  EXPECT_TRUE(second.timed_out);
  pair.send("ab");
  while (first.ends() + third.ends() < 2) driver->poll();
  EXPECT_EQ(first.result + third.result, 2);
}

TEST_F(registration, ends_with_the_descriptor_that_is_closed) {
  tcp_pair pair;
  const int number = pair.first();
  const int copy = ::dup(number);  // would keep the registration alive
  std::string into(1, ' ');
  noted_op reads(request(op_code::recv, number, into, true));
  noted_op watches(request(op_code::poll, number));
  watches.mode = POLLIN;
  wait_with(reads);
  wait_with(watches);
  const std::uint32_t generation = entry_of(number).generation;
  noted_op closes(request(op_code::close, pair.take_first().release()));
  driver->submit(closes);
  EXPECT_EQ(reads.ends() + watches.ends(), 0) << "never inside the submit() of another";
  EXPECT_EQ(result_of(closes), 0);
  EXPECT_EQ(result_of(reads), -EBADF);
  EXPECT_EQ(result_of(watches), -EBADF);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_EQ(entry_of(number).kind, interest::none);
  EXPECT_GT(entry_of(number).generation, generation);
  ::close(copy);
}

TEST_F(registration, fails_as_the_system_says) {
  std::string into(1, ' ');
  noted_op none(request(op_code::recv, -1, into, true));
  EXPECT_EQ(result_of_new(none), -EBADF);
  noted_op closed(request(op_code::recv, 999'999, into));
  EXPECT_EQ(result_of_new(closed), -EBADF);
  EXPECT_EQ(fds.find(999'999), nullptr) << "nothing is kept for it";
  noted_op watches(request(op_code::poll, -1));
  EXPECT_EQ(result_of_new(watches), -EBADF);
  pipe_pair pipe;
  noted_op no_socket(request(op_code::recv, pipe.out(), into));
  EXPECT_EQ(result_of_new(no_socket), -ENOTSOCK);
}

}  // namespace
