// tests/runtime/plain_turns_test.cpp: what a worker executes between two turns, one by one.
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

// The processor traps after each instruction, and the handler looks at the one that comes next: so
// it sees what is executed, whatever was inlined where, in the library as in the test.
namespace {

using skua::task;

std::atomic<std::size_t> steps = 0;  // written by the handler, on the thread that is traced
std::atomic<std::size_t> locked = 0;
std::atomic<std::uintptr_t> first_locked = 0;

/// Prefixed with `lock`, or an exchange with memory, which is locked without.
bool locks_the_bus(const unsigned char* code) {
  for (;; ++code) {
    if (*code == 0xf0) return true;
    const bool prefix = *code == 0x66 || *code == 0xf2 || *code == 0xf3 || *code == 0x2e ||
                        *code == 0x36 || *code == 0x3e || *code == 0x64 || *code == 0x65;
    if (!prefix) break;
  }
  if ((*code & 0xf0) == 0x40) ++code;  // REX
  return (*code == 0x86 || *code == 0x87) && (code[1] >> 6) != 3;
}

void look(int /*signal*/, siginfo_t* /*why*/, void* where) {
  const auto at =
      static_cast<std::uintptr_t>(static_cast<ucontext_t*>(where)->uc_mcontext.gregs[REG_RIP]);
  steps.store(steps.load() + 1);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): where the thread is.
  if (!locks_the_bus(reinterpret_cast<const unsigned char*>(at))) return;
  if (locked.load() == 0) first_locked.store(at);
  locked.store(locked.load() + 1);
}

// Below the red zone of the caller.
[[gnu::noinline]] void trap_each_step() {
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}
[[gnu::noinline]] void trap_no_more() {
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

class plain_turns : public skua_test::for_each_kind {
protected:
  void SetUp() override {
    if (skua::built_with_asan || skua::built_with_tsan)
      GTEST_SKIP() << "sanitizers add instructions of their own";
    struct sigaction how{};
    how.sa_sigaction = look;
    how.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGTRAP, &how, &before_), 0);
    steps = locked = first_locked = 0;
  }
  void TearDown() override { ::sigaction(SIGTRAP, &before_, nullptr); }

  struct sigaction before_{};
};

task<> give_way(int times) {
  for (int i = 0; i < times; ++i) co_await skua::yield();
}

/// Three tasks that take turns on one worker.
task<> take_turns() {
  constexpr int turns = 20;
  auto one = skua::spawn(give_way(2 * turns));
  auto other = skua::spawn(give_way(2 * turns));
  co_await give_way(10);
  trap_each_step();
  co_await give_way(turns);
  trap_no_more();
  co_await std::move(one);
  co_await std::move(other);
}

TEST_P(plain_turns, from_resume_to_queue_to_resume_nothing_is_locked_where_nobody_steals) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.workers = 1;
  settings.event_interval = 1'000'000;  // a look at the driver takes its lock
  auto rt = skua_test::started(settings);
  rt.block_on(take_turns());
  EXPECT_GT(steps, 20U * 3U * 20U) << "they have been seen";
  if (GetParam().order == skua::order::lifo) {
    EXPECT_GT(locked, 0U) << "its deque is ready for thieves: it can be seen";
  } else {
    EXPECT_EQ(locked, 0U) << "of " << steps << ", the first at " << std::hex << first_locked;
  }
  RecordProperty("steps", std::to_string(steps));
  RecordProperty("locked", std::to_string(locked));
}

INSTANTIATE_TEST_SUITE_P(one, plain_turns, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

}  // namespace
