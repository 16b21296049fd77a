// tools/skua/ring_operations.cpp: which operations the kernel's rings know.
#include "machine.hpp"

#include <liburing.h>

#include <memory>

namespace skua_tool {
namespace {

struct numbered_operation {
  const char* name;
  int number;
};

// The last two are newer than the headers of liburing 2.3.
constexpr numbered_operation used_operations[] = {
    {"nop", IORING_OP_NOP},
    {"read", IORING_OP_READ},
    {"write", IORING_OP_WRITE},
    {"readv", IORING_OP_READV},
    {"writev", IORING_OP_WRITEV},
    {"recv", IORING_OP_RECV},
    {"send", IORING_OP_SEND},
    {"send_zc", IORING_OP_SEND_ZC},
    {"recvmsg", IORING_OP_RECVMSG},
    {"sendmsg", IORING_OP_SENDMSG},
    {"accept", IORING_OP_ACCEPT},
    {"connect", IORING_OP_CONNECT},
    {"close", IORING_OP_CLOSE},
    {"shutdown", IORING_OP_SHUTDOWN},
    {"openat", IORING_OP_OPENAT},
    {"fsync", IORING_OP_FSYNC},
    {"fallocate", IORING_OP_FALLOCATE},
    {"statx", IORING_OP_STATX},
    {"renameat", IORING_OP_RENAMEAT},
    {"unlinkat", IORING_OP_UNLINKAT},
    {"mkdirat", IORING_OP_MKDIRAT},
    {"linkat", IORING_OP_LINKAT},
    {"symlinkat", IORING_OP_SYMLINKAT},
    {"splice", IORING_OP_SPLICE},
    {"poll_add", IORING_OP_POLL_ADD},
    {"async_cancel", IORING_OP_ASYNC_CANCEL},
    {"futex_wait", 51},
    {"ftruncate", 55},
};

struct free_probe {
  void operator()(io_uring_probe* what) const noexcept { io_uring_free_probe(what); }
};

}  // namespace

std::vector<ring_operation> probe_operations() {
  const std::unique_ptr<io_uring_probe, free_probe> answer(io_uring_get_probe());
  std::vector<ring_operation> all;
  for (const numbered_operation& one : used_operations)
    all.push_back(
        {one.name, answer != nullptr && io_uring_opcode_supported(answer.get(), one.number) != 0});
  return all;
}

}  // namespace skua_tool
