// tests/runtime/signals_test.cpp: a broken pipe is an error on our threads, and no more than that.
#include "runtime/signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace {

/// Signals that the calling thread blocks.
sigset_t own_mask() {
  sigset_t mask;
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &mask), 0);
  return mask;
}

/// The error of a write to a pipe that nobody reads.
int error_of_a_broken_pipe() {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const bool written = write(ends[1], "x", 1) == 1;
  const int error = errno;
  close(ends[1]);
  return written ? 0 : error;
}

/// As a process starts, whatever it inherited.
class block_sigpipe : public testing::Test {
protected:
  block_sigpipe() {
    sigset_t only_sigpipe;
    sigemptyset(&only_sigpipe);
    sigaddset(&only_sigpipe, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &only_sigpipe, nullptr);
    signal(SIGPIPE, SIG_DFL);
  }
};

TEST_F(block_sigpipe, turns_a_broken_pipe_into_an_error) {
  EXPECT_EXIT(error_of_a_broken_pipe(), testing::KilledBySignal(SIGPIPE), "");
  std::thread([] {
    skua::block_sigpipe_in_this_thread();
    EXPECT_EQ(error_of_a_broken_pipe(), EPIPE);
    EXPECT_EQ(error_of_a_broken_pipe(), EPIPE) << "also with one pending";
  }).join();
}

TEST_F(block_sigpipe, leaves_other_signals_alone) {
  std::thread([] {
    sigset_t blocked_before;
    sigemptyset(&blocked_before);
    sigaddset(&blocked_before, SIGUSR1);
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked_before, nullptr), 0);
    const sigset_t before = own_mask();
    skua::block_sigpipe_in_this_thread();
    const sigset_t after = own_mask();
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
      const bool expected = signal == SIGPIPE || sigismember(&before, signal) == 1;
      EXPECT_EQ(sigismember(&after, signal) == 1, expected) << signal;
    }
  }).join();
}

TEST_F(block_sigpipe, leaves_other_threads_alone) {
  std::thread(skua::block_sigpipe_in_this_thread).join();
  const sigset_t mine = own_mask();
  EXPECT_EQ(sigismember(&mine, SIGPIPE), 0);
  EXPECT_EXIT(error_of_a_broken_pipe(), testing::KilledBySignal(SIGPIPE), "");
}

TEST_F(block_sigpipe, may_be_asked_for_twice) {
  std::thread([] {
    skua::block_sigpipe_in_this_thread();
    skua::block_sigpipe_in_this_thread();
    EXPECT_EQ(error_of_a_broken_pipe(), EPIPE);
  }).join();
}

}  // namespace
