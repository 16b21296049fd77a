// src/driver/uring/ring.cpp: make a ring, try it, and enter the kernel.
#include "driver/uring/ring.hpp"

#include "driver/deferred_signals.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/driver/timer.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::uint32_t needed_features =
    IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE;
constexpr std::uint64_t probe_tag = ~std::uint64_t{0};

// liburing maps and unmaps the queues behind the back of ThreadSanitizer, which takes a new ring at
// the address of an old one for the old one.
char mapped_here;

constexpr std::uint32_t for_any_thread = IORING_SETUP_COOP_TASKRUN;
constexpr std::uint32_t for_one_thread = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;

}  // namespace

std::expected<std::unique_ptr<ring>, int> ring::make(const ring_size& wanted, ring_use by) {
  if (by == ring_use::one_thread) {
    auto made = make_for_one(wanted);
    if (made || made.error() != EINVAL) return made;
  }
  return make_with(wanted, for_any_thread);
}

// The thread that enables such a ring is the one that may enter it. So one is tried here, and
// another is left for that thread.
std::expected<std::unique_ptr<ring>, int> ring::make_for_one(const ring_size& wanted) {
  if (auto tried = make_with({.submissions = 1, .completions = 2}, for_one_thread); !tried)
    return tried;
  auto made = make_with(wanted, for_one_thread | IORING_SETUP_R_DISABLED);
  if (made) (*made)->use_ = ring_use::one_thread;
  return made;
}

std::expected<std::unique_ptr<ring>, int> ring::make_with(const ring_size& wanted,
                                                          std::uint32_t flags) {
  std::unique_ptr<ring> made(new ring);
  ring_size size = wanted;
  int error = made->open(size, flags);
  // A small limit of locked memory may still have room for a smaller ring.
  while (error == ENOMEM && size.submissions > 8 && size.completions > 16) {
    size = {.submissions = size.submissions / 2, .completions = size.completions / 2};
    error = made->open(size, flags);
  }
  if (error == 0 && (flags & IORING_SETUP_R_DISABLED) == 0) error = made->try_nop();
  if (error == 0) error = made->probe();
  if (error != 0) return std::unexpected(error);
  return made;
}

ring::~ring() {
  if (!made_) return;
  tsan_release(&mapped_here);
  io_uring_queue_exit(&ring_);
}

void ring::take_over() noexcept {
  if (use_ == ring_use::any_thread) return;
  // Not by liburing: 2.3 declares that function, but does not export it.
  const long answer =
      ::syscall(__NR_io_uring_register, ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
  check(answer == 0, "a ring is taken over once");
  only_ = ::pthread_self();
}

int ring::open(const ring_size& wanted, std::uint32_t flags) {
  io_uring_params params{};
  params.flags = flags | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE |
                 IORING_SETUP_CLAMP;
  params.cq_entries = wanted.completions;
  if (const int answer = io_uring_queue_init_params(wanted.submissions, &ring_, &params);
      answer < 0)
    return -answer;
  made_ = true;
  tsan_acquire(&mapped_here);
  if ((ring_.features & needed_features) != needed_features) return ENOSYS;
  // A forked child must not see the queues, nor move their tails.
  if (const int answer = io_uring_ring_dontfork(&ring_); answer < 0) return -answer;
  // Entries are used in the order of their places.
  for (std::uint32_t i = 0; i < ring_.sq.ring_entries; ++i) ring_.sq.array[i] = i;
  return 0;
}

int ring::try_nop() noexcept {
  io_uring_sqe* const entry = next_entry();
  entry->opcode = IORING_OP_NOP;
  entry->user_data = probe_tag;
  publish();
  if (const int answer = enter(1, 0); answer != 1) return answer < 0 ? -answer : EIO;
  bool came = false;
  reap(1, [&](const io_uring_cqe& one) { came = one.user_data == probe_tag && one.res == 0; });
  return came ? 0 : EIO;
}

int ring::probe() {
  io_uring_probe* const answer = io_uring_get_probe_ring(&ring_);
  if (answer == nullptr) return ENOSYS;
  for (int code = 0; code <= answer->last_op; ++code)
    known_[static_cast<std::size_t>(code)] = io_uring_opcode_supported(answer, code) != 0;
  io_uring_free_probe(answer);
  return 0;
}

io_uring_sqe* ring::next_entry() noexcept {
  if (!has_room()) return nullptr;
  io_uring_sqe* const entry = &ring_.sq.sqes[tail_ & ring_.sq.ring_mask];
  std::memset(entry, 0, sizeof *entry);
  return entry;
}

int ring::enter(std::uint32_t count, std::int64_t wait) noexcept {
  const int answer = call(count, limit_of_sleep(wait));
  run_deferred_signals();
  return answer;
}

int ring::call(std::uint32_t count, std::int64_t wait) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  __kernel_timespec length{.tv_sec = wait / second, .tv_nsec = wait % second};
  io_uring_getevents_arg extra{};
  if (wait == 0 || wait == no_deadline)
    return io_uring_enter2(static_cast<unsigned>(ring_.ring_fd), count, wait == 0 ? 0 : 1,
                           IORING_ENTER_GETEVENTS, nullptr, 0);
  extra.ts = reinterpret_cast<std::uintptr_t>(&length);
  return io_uring_enter2(static_cast<unsigned>(ring_.ring_fd), count, 1,
                         IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
                         reinterpret_cast<sigset_t*>(&extra), sizeof extra);
}

}  // namespace skua::inline SKUA_ABI
