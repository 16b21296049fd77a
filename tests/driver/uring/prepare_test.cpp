// tests/driver/uring/prepare_test.cpp: each operation in the fields that liburing fills, too.
#include "driver/uring/prepare.hpp"

#include "driver/uring/kernel_abi.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>

namespace {

using skua::op_code;
using skua::op_request;

void nobody(skua::operation&) noexcept {}

io_uring_sqe ours(const op_request& what) {
  const skua::operation op(what, nobody);
  io_uring_sqe entry{};
  skua::prepare(entry, op);
  return entry;
}

/// Field by field would name only those that we thought of.
void expect_equal(const io_uring_sqe& a, const io_uring_sqe& b, const char* what) {
  EXPECT_EQ(a.opcode, b.opcode) << what;
  EXPECT_EQ(a.fd, b.fd) << what;
  EXPECT_EQ(a.addr, b.addr) << what;
  EXPECT_EQ(a.off, b.off) << what;
  EXPECT_EQ(a.len, b.len) << what;
  EXPECT_EQ(a.rw_flags, b.rw_flags) << what;
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): every byte is the kernel's to read.
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << what;
}

class prepare : public testing::Test {
protected:
  prepare() {
    what.fd = 5;
    what.other_fd = 6;
    what.flags = 0x21;
    what.mode = 0640;
    what.address = first;
    what.length = 77;
    what.offset = 1'234;
  }
  /// As ours, with the fields that count.
  io_uring_sqe with(op_code code) {
    what.code = code;
    return ours(what);
  }
  [[nodiscard]] const char* path() const { return first; }
  [[nodiscard]] const char* other_path() const { return second; }

  char first[100] = "first";
  char second[100] = "second";
  op_request what;
  // As a member, g++ -pedantic does not want the kernel's array of no length.
  const std::unique_ptr<io_uring_sqe> made = std::make_unique<io_uring_sqe>();
  io_uring_sqe& theirs = *made;
};

TEST_F(prepare, moves_bytes) {
  io_uring_prep_read(&theirs, 5, first, 77, 1'234);
  expect_equal(with(op_code::read), theirs, "read");
  io_uring_prep_write(&theirs, 5, first, 77, 1'234);
  expect_equal(with(op_code::write), theirs, "write");
  const auto* const vector = reinterpret_cast<const iovec*>(first);
  io_uring_prep_readv(&theirs, 5, vector, 77, 1'234);
  expect_equal(with(op_code::readv), theirs, "readv");
  io_uring_prep_writev(&theirs, 5, vector, 77, 1'234);
  expect_equal(with(op_code::writev), theirs, "writev");
  io_uring_prep_splice(&theirs, 5, 1'234, 6, 5'678, 77, 0x21);
  what.other_offset = 5'678;
  expect_equal(with(op_code::splice), theirs, "splice");
}

TEST_F(prepare, uses_the_position_of_the_file_if_there_is_no_offset) {
  what.offset = -1;
  io_uring_prep_read(&theirs, 5, first, 77, static_cast<std::uint64_t>(-1));
  expect_equal(with(op_code::read), theirs, "read");
}

TEST_F(prepare, asks_for_no_more_than_the_kernel_moves_at_once) {
  for (const op_code code : {op_code::read, op_code::write, op_code::recv, op_code::send,
                             op_code::send_zc, op_code::splice}) {
    for (const std::uint64_t length : {std::uint64_t{0x7ffff001}, std::uint64_t{1} << 32,
                                       std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      what.length = length;
      EXPECT_EQ(with(code).len, 0x7ffff000U) << static_cast<int>(code);
    }
    what.length = 0x7ffff000;
    EXPECT_EQ(with(code).len, 0x7ffff000U);
    what.length = 0;
    EXPECT_EQ(with(code).len, 0U);
  }
}

TEST_F(prepare, talks_to_sockets) {
  io_uring_prep_recv(&theirs, 5, first, 77, 0x21);
  expect_equal(with(op_code::recv), theirs, "recv");
  io_uring_prep_send(&theirs, 5, first, 77, 0x21);
  expect_equal(with(op_code::send), theirs, "send");
  io_uring_prep_send_zc(&theirs, 5, first, 77, 0x21, 0);
  expect_equal(with(op_code::send_zc), theirs, "send_zc");
  io_uring_prep_recvmsg(&theirs, 5, reinterpret_cast<msghdr*>(first), 0x21);
  expect_equal(with(op_code::recvmsg), theirs, "recvmsg");
  io_uring_prep_sendmsg(&theirs, 5, reinterpret_cast<msghdr*>(first), 0x21);
  expect_equal(with(op_code::sendmsg), theirs, "sendmsg");
  what.other_address = second;
  io_uring_prep_accept(&theirs, 5, reinterpret_cast<sockaddr*>(first),
                       reinterpret_cast<socklen_t*>(second), 0x21);
  expect_equal(with(op_code::accept), theirs, "accept");
  io_uring_prep_connect(&theirs, 5, reinterpret_cast<sockaddr*>(first), 77);
  expect_equal(with(op_code::connect), theirs, "connect");
  what.address = nullptr;
  io_uring_prep_shutdown(&theirs, 5, 0x21);
  expect_equal(with(op_code::shutdown), theirs, "shutdown");
}

TEST_F(prepare, opens_closes_and_syncs) {
  io_uring_prep_openat(&theirs, 5, path(), 0x21, 0640);
  expect_equal(with(op_code::open), theirs, "open");
  what.address = nullptr;
  io_uring_prep_close(&theirs, 5);
  expect_equal(with(op_code::close), theirs, "close");
  io_uring_prep_fsync(&theirs, 5, 0);
  expect_equal(with(op_code::fsync), theirs, "fsync");
  io_uring_prep_fsync(&theirs, 5, IORING_FSYNC_DATASYNC);
  expect_equal(with(op_code::fdatasync), theirs, "fdatasync");
  io_uring_prep_fallocate(&theirs, 5, 0640, 1'234, 77);
  expect_equal(with(op_code::fallocate), theirs, "fallocate");
  io_uring_prep_rw(skua::kernel_abi::op_ftruncate, &theirs, 5, nullptr, 0, 77);
  expect_equal(with(op_code::ftruncate), theirs, "ftruncate");
}

TEST_F(prepare, handles_names) {
  what.other_address = second;
  io_uring_prep_statx(&theirs, 5, path(), 0x21, 0640, reinterpret_cast<struct statx*>(second));
  expect_equal(with(op_code::statx), theirs, "statx");
  io_uring_prep_renameat(&theirs, 5, path(), 6, other_path(), 0x21);
  expect_equal(with(op_code::rename), theirs, "rename");
  io_uring_prep_unlinkat(&theirs, 5, path(), 0x21);
  expect_equal(with(op_code::unlink), theirs, "unlink");
  io_uring_prep_mkdirat(&theirs, 5, path(), 0640);
  expect_equal(with(op_code::mkdir), theirs, "mkdir");
  io_uring_prep_linkat(&theirs, 5, path(), 6, other_path(), 0x21);
  expect_equal(with(op_code::link), theirs, "link");
  io_uring_prep_symlinkat(&theirs, path(), 6, other_path());
  expect_equal(with(op_code::symlink), theirs, "symlink");
}

TEST_F(prepare, waits) {
  what.address = nullptr;
  what.fd = -1;
  io_uring_prep_nop(&theirs);
  expect_equal(with(op_code::nop), theirs, "nop");
  what.fd = 5;
  what.mode = POLLIN | POLLHUP;
  io_uring_prep_poll_add(&theirs, 5, POLLIN | POLLHUP);
  expect_equal(with(op_code::poll), theirs, "poll");
  what.address = first;
  io_uring_prep_poll_add(&theirs, 5, POLLIN);
  expect_equal(with(op_code::wait_process), theirs, "wait_process");
}

// In the words of linux/futex.h of a newer kernel: flags in fd, value in addr2, mask in addr3.
TEST_F(prepare, waits_at_a_word) {
  what.length = 0xffffffff;
  const io_uring_sqe entry = with(op_code::futex_wait);
  EXPECT_EQ(entry.opcode, 51);
  EXPECT_EQ(entry.fd, 0x82);
  EXPECT_EQ(entry.addr, reinterpret_cast<std::uintptr_t>(first));
  EXPECT_EQ(entry.addr2, 0xffffffffU);
  EXPECT_EQ(entry.addr3, 0xffffffffU);
  EXPECT_EQ(entry.len, 0U);
  EXPECT_EQ(entry.rw_flags, 0);
}

TEST(uring_code, is_one_for_each_operation) {
  std::multiset<int> all;
  for (std::size_t i = 0; i < skua::op_code_count; ++i)
    all.insert(skua::uring_code(static_cast<op_code>(i)));
  EXPECT_EQ(all.count(IORING_OP_FSYNC), 2U) << "of two kinds";
  EXPECT_EQ(all.count(IORING_OP_POLL_ADD), 2U) << "a process ends like any readiness";
  const std::set<int> different(all.begin(), all.end());
  EXPECT_EQ(different.size(), skua::op_code_count - 2);
}

}  // namespace
