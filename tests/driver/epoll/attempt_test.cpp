// tests/driver/epoll/attempt_test.cpp: every kind of operation, on descriptors in every mode.
#include "driver/epoll/attempt.hpp"

#include "support/driven_epoll.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

extern "C" int pidfd_open(pid_t process, unsigned flags) noexcept;  // <sys/pidfd.h> is for C

namespace {

using skua::op_code;
using skua::op_request;
using skua::unique_fd;
using skua_test::noted_op;
using skua_test::pipe_pair;
using skua_test::request;
using skua_test::socket_pair;
using skua_test::tcp_pair;

class attempts : public skua_test::driven_epoll {
protected:
  /// Submits, and sees that it waits, on nobody's thread.
  void wait_with(noted_op& op) {
    driver->submit(op);
    drive_a_little();
    EXPECT_EQ(op.ends(), 0);
    EXPECT_EQ(op.at, skua::operation::place::in_kernel);
  }
  static unique_fd temporary_file() {
    std::string name = "/tmp/skua_attempt_XXXXXX";
    unique_fd made(::mkstemp(name.data()));
    EXPECT_TRUE(made);
    ::unlink(name.c_str());
    return made;
  }
};

TEST_F(attempts, never_block_on_a_pipe_that_would) {
  pipe_pair pipe;
  std::string into(8, ' ');
  noted_op reads(request(op_code::read, pipe.out(), into));
  wait_with(reads);
  EXPECT_EQ(::write(pipe.in(), "abc", 3), 3);
  EXPECT_EQ(result_of(reads), 3);

  std::string much(1 << 20, 'x');
  noted_op fills(request(op_code::write, pipe.in(), much));
  EXPECT_GT(result_of_new(fills), 0);
  noted_op writes(request(op_code::write, pipe.in(), much));
  wait_with(writes);
  EXPECT_GT(::read(pipe.out(), much.data(), much.size()), 0);
  EXPECT_GT(result_of(writes), 0);
}

/// A terminal, of which the kernel cannot be asked not to block.
class terminal {
public:
  terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(master()), 0);
    EXPECT_EQ(::unlockpt(master()), 0);
    std::array<char, 64> name{};
    EXPECT_EQ(::ptsname_r(master(), name.data(), name.size()), 0);
    slave_.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios how{};
    EXPECT_EQ(::tcgetattr(slave(), &how), 0);
    ::cfmakeraw(&how);
    EXPECT_EQ(::tcsetattr(slave(), TCSANOW, &how), 0);
  }
  [[nodiscard]] int master() const { return master_.get(); }
  [[nodiscard]] int slave() const { return slave_.get(); }

private:
  unique_fd master_;
  unique_fd slave_;
};

TEST_F(attempts, wait_for_a_terminal_before_a_thread_blocks_there) {
  terminal line;
  std::string into(8, ' ');
  noted_op reads(request(op_code::read, line.slave(), into));
  wait_with(reads);
  EXPECT_EQ(pool.taken, 0);
  EXPECT_EQ(::write(line.master(), "abc", 3), 3);
  EXPECT_EQ(result_of(reads), 3);
  EXPECT_EQ(pool.taken, 1);
  std::string nothing;
  noted_op moves_nothing(request(op_code::read, line.slave(), nothing));
  EXPECT_EQ(result_of_new(moves_nothing), 0);

  ASSERT_EQ(::fcntl(line.slave(), F_SETFL, O_RDWR | O_NONBLOCK), 0);
  noted_op directly(request(op_code::read, line.slave(), into));
  wait_with(directly);
  EXPECT_EQ(::write(line.master(), "de", 2), 2);
  EXPECT_EQ(result_of(directly), 2);
  EXPECT_EQ(pool.taken, 1);
}

TEST_F(attempts, cancelled_between_readiness_and_thread_end_as_cancelled) {
  terminal line;
  std::string into(8, ' ');
  noted_op reads(request(op_code::read, line.slave(), into));
  wait_with(reads);
  pool.hold(true);
  EXPECT_EQ(::write(line.master(), "abc", 3), 3);
  while (reads.at == skua::operation::place::in_kernel) driver->poll();
  EXPECT_EQ(reads.at, skua::operation::place::in_pool);
  EXPECT_TRUE(driver->cancel(reads));
  pool.hold(false);
  noted_op again(request(op_code::read, line.slave(), into));
  EXPECT_EQ(result_of_new(again), 3);
  EXPECT_EQ(reads.ends(), 0);
}

TEST_F(attempts, move_bytes_of_files) {
  const unique_fd file = temporary_file();
  std::string text = "some text";
  op_request what = request(op_code::write, file.get(), text, true);
  what.offset = 2;
  noted_op writes(what);
  EXPECT_EQ(result_of_new(writes), 9);
  std::string into(20, ' ');
  what = request(op_code::read, file.get(), into, true);
  what.offset = 2;
  noted_op reads(what);
  EXPECT_EQ(result_of_new(reads), 9);
  EXPECT_EQ(into.substr(0, 9), text);
  what.offset = 11;
  noted_op at_end(what);
  EXPECT_EQ(result_of_new(at_end), 0);
  noted_op syncs(request(op_code::fsync, file.get()));
  EXPECT_EQ(result_of_new(syncs), 0);
  noted_op watches(request(op_code::poll, file.get()));
  watches.mode = POLLIN | POLLOUT;
  EXPECT_EQ(result_of_new(watches), POLLIN | POLLOUT);
  noted_op never(request(op_code::poll, file.get()));
  never.mode = POLLPRI;
  EXPECT_EQ(result_of_new(never), 0) << "what poll(2) says: nothing will come";
  noted_op closes(request(op_code::close, ::dup(file.get())));
  const int before = pool.taken;
  EXPECT_EQ(result_of_new(closes), 0);
  EXPECT_EQ(pool.taken, before + 1);
}

TEST_F(attempts, close_also_if_there_is_no_thread) {
  const unique_fd file = temporary_file();
  const int number = ::dup(file.get());
  pool.refuses = true;
  noted_op closes(request(op_code::close, number));
  EXPECT_EQ(result_of_new(closes), 0);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  noted_op syncs(request(op_code::fsync, file.get()));
  EXPECT_EQ(result_of_new(syncs), -EAGAIN);
}

TEST_F(attempts, accept_and_connect) {
  const unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  const auto connecting = [&](int fd, bool owned) {
    op_request what = request(op_code::connect, fd, owned);
    what.address = &at;
    what.length = size;
    return what;
  };
  const unique_fd refused(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  noted_op in_vain(connecting(refused.get(), true));
  EXPECT_EQ(result_of_new(in_vain), -ECONNREFUSED);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  for (const bool owned : {true, true, false, true}) {
    noted_op accepts(request(op_code::accept, listener.get(), owned));
    wait_with(accepts);
    EXPECT_NE(::fcntl(listener.get(), F_GETFL) & O_NONBLOCK, 0);
    const unique_fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    noted_op connects(connecting(client.get(), owned));
    EXPECT_EQ(result_of_new(connects), 0);
    const unique_fd accepted(result_of(accepts));
    EXPECT_GE(accepted.get(), 0);
    noted_op ends(request(op_code::shutdown, client.get()));
    ends.flags = SHUT_WR;
    EXPECT_EQ(result_of_new(ends), 0);
    std::string into(1, ' ');
    noted_op reads(request(op_code::recv, accepted.get(), into, owned));
    EXPECT_EQ(result_of_new(reads), 0);
  }
}

TEST_F(attempts, splice_when_both_sides_are_ready) {
  pipe_pair from;
  pipe_pair to;
  std::string much(1 << 20, 'x');
  noted_op fills(request(op_code::write, to.in(), much));
  EXPECT_GT(result_of_new(fills), 0);
  op_request what = request(op_code::splice, from.out());
  what.other_offset = -1;
  what.other_fd = to.in();
  what.length = 100;
  noted_op moves(what);
  wait_with(moves);
  EXPECT_EQ(::write(from.in(), "moved", 5), 5);
  drive_a_little();
  EXPECT_EQ(moves.ends(), 0) << "no room yet";
  EXPECT_TRUE(moves.stage);
  EXPECT_GT(::read(to.out(), much.data(), much.size()), 0);
  EXPECT_EQ(result_of(moves), 5);
  noted_op cancelled(what);
  wait_with(cancelled);
  EXPECT_TRUE(driver->cancel(cancelled));

  const unique_fd file = temporary_file();
  what.other_fd = file.get();
  noted_op to_file(what);
  wait_with(to_file);
  EXPECT_EQ(::write(from.in(), "kept", 4), 4);
  EXPECT_EQ(result_of(to_file), 4);
  EXPECT_EQ(pool.taken, 1);
}

// In a thread of the pool it might wait for bytes that another has taken, and nobody could end it.
TEST_F(attempts, splice_from_a_socket_that_blocks_without_a_thread) {
  tcp_pair from;
  pipe_pair to;
  op_request what = request(op_code::splice, from.first());
  what.other_offset = -1;
  what.other_fd = to.in();
  what.length = 100;
  from.send("moved");
  noted_op moves(what);
  EXPECT_EQ(result_of_new(moves), 5);
  EXPECT_EQ(pool.taken, 0);
  noted_op waits(what);
  wait_with(waits);
  EXPECT_TRUE(driver->cancel(waits));
}

TEST_F(attempts, give_all_that_was_asked_for_if_told_to) {
  tcp_pair pair;
  std::string into(6, ' ');
  op_request what = request(op_code::recv, pair.first(), into, true);
  what.flags = MSG_WAITALL;
  noted_op all(what);
  pair.send("ab");
  wait_with(all);
  pair.send("cd");
  drive_a_little();
  EXPECT_EQ(all.ends(), 0);
  pair.send("efgh");
  EXPECT_EQ(result_of(all), 6);
  EXPECT_EQ(into, "abcdef");
  noted_op cut(what);
  wait_with(cut);
  EXPECT_FALSE(driver->cancel(cut)) << "it has moved something";
  EXPECT_EQ(result_of(cut), 2);
  noted_op nothing(what);
  wait_with(nothing);
  EXPECT_TRUE(driver->cancel(nothing));
  what.flags = MSG_DONTWAIT;
  noted_op impatient(what);
  EXPECT_EQ(result_of_new(impatient), -EAGAIN);
}

TEST_F(attempts, read_the_queue_of_errors_beside_a_reader) {
  const unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ASSERT_EQ(::setsockopt(socket.get(), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
  std::string into(8, ' ');
  msghdr message{};
  iovec room{into.data(), into.size()};
  message.msg_iov = &room;
  message.msg_iovlen = 1;
  op_request what = request(op_code::recvmsg, socket.get(), true);
  what.address = &message;
  what.flags = MSG_ERRQUEUE;
  noted_op errors(what);
  wait_with(errors);
  sockaddr_in nobody{};
  nobody.sin_family = AF_INET;
  nobody.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  nobody.sin_port = ::htons(1);
  EXPECT_EQ(::sendto(socket.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&nobody), sizeof nobody),
            1);
  EXPECT_EQ(result_of(errors), 1);
}

TEST_F(attempts, tell_which_events_hold) {
  socket_pair pair;
  noted_op watches(request(op_code::poll, pair.first(), true));
  watches.mode = POLLIN | POLLRDHUP;
  wait_with(watches);
  EXPECT_EQ(::shutdown(pair.second(), SHUT_WR), 0);
  EXPECT_EQ(result_of(watches), POLLIN | POLLRDHUP);
  noted_op at_once(request(op_code::poll, pair.first(), true));
  at_once.mode = POLLOUT;
  EXPECT_EQ(result_of_new(at_once), POLLOUT);
}

TEST_F(attempts, take_the_end_of_a_process) {
  pipe_pair pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    pipe.close_in();
    _exit(::read(pipe.out(), &byte, 1) == 1 ? byte : 1);
  }
  const unique_fd process(pidfd_open(child, 0));
  ASSERT_TRUE(process);
  siginfo_t how{};
  op_request what = request(op_code::wait_process, process.get());
  what.address = &how;
  what.flags = WEXITED;
  noted_op waits(what);
  wait_with(waits);
  const char status = 42;
  EXPECT_EQ(::write(pipe.in(), &status, 1), 1);
  EXPECT_EQ(result_of(waits), 0);
  EXPECT_EQ(how.si_status, 42);
  noted_op late(what);
  EXPECT_EQ(result_of_new(late), -ECHILD);
}

TEST_F(attempts, interrupt_a_wait_for_a_word) {
  std::uint32_t word = 5;
  op_request what = request(op_code::futex_wait, -1);
  what.address = &word;
  what.length = 4;
  noted_op wrong(what);
  EXPECT_EQ(result_of_new(wrong), -EAGAIN);
  what.length = 5;
  noted_op stopped(what);
  stopped.expiry().deadline = clock.now() + 3 * millisecond;
  EXPECT_EQ(result_of_new(stopped), -ECANCELED);
  EXPECT_TRUE(stopped.timed_out);
}

}  // namespace
