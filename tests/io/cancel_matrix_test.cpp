// tests/io/cancel_matrix_test.cpp: each operation, stopped at each moment, from each side.
#include "skua/skua.hpp"
#include "support/log_recorder.hpp"
#include "support/op_cases.hpp"
#include "support/open_fds.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::task;
using skua_test::op_case;
using skua_test::op_kind;
using skua_test::started;

/// When the stop comes.
enum class moment { before_it_begins, while_it_waits, as_it_ends, after_it_ended };

const char* name_of(moment when) {
  switch (when) {
    case moment::before_it_begins:
      return "before it begins";
    case moment::while_it_waits:
      return "while it waits";
    case moment::as_it_ends:
      return "as it ends";
    case moment::after_it_ended:
      return "after it ended";
  }
  return "?";
}

/// One attempt and what came of it.
struct trial {
  explicit trial(const op_kind& which) : kind(which), operation(which.make()) {}

  const op_kind& kind;
  std::unique_ptr<op_case> operation;
  std::atomic<bool> begun{false};
  std::atomic<int> values{0};
  std::atomic<int> failures{0};
  std::atomic<int> unwound{0};  // once, whichever way
};

struct counts_down {
  std::atomic<int>& count;
  explicit counts_down(std::atomic<int>& at) : count(at) {}
  ~counts_down() { ++count; }
};

task<> attempts(trial& one) {
  const counts_down at_the_end(one.unwound);
  one.begun.store(true);
  if (co_await one.operation->run())
    ++one.values;
  else
    ++one.failures;
}

void judge(trial& one, moment when, bool stopped) {
  EXPECT_EQ(one.unwound.load(), one.begun.load() ? 1 : 0);
  EXPECT_EQ(one.failures.load(), 0);
  EXPECT_EQ(one.values.load(), stopped ? 0 : 1) << "exactly one outcome";
  if (when == moment::before_it_begins) {
    EXPECT_TRUE(stopped);
  }
  if (when == moment::while_it_waits && !one.kind.always_ends) {
    EXPECT_TRUE(stopped);
  }
  if (when == moment::after_it_ended) {
    EXPECT_FALSE(stopped);
  }
  if (!stopped) {
    one.operation->expect_done();
    return;
  }
  if (when == moment::before_it_begins || when == moment::while_it_waits) one.operation->provoke();
  if (one.kind.waits) one.operation->expect_untouched();
}

bool makes_sense(const op_kind& kind, moment when) {
  return kind.waits || when != moment::while_it_waits;
}

bool on_epoll() {
  const char* const name = std::getenv("SKUA_BACKEND");
  return name != nullptr && std::string_view(name) == "epoll";
}

/// Calls `stop_at(kind, moment)` for each of them, several times where there is a race.
template <typename Attempt>
void for_all(const Attempt& attempt) {
  const std::size_t fds = skua_test::open_fds();
  for (const op_kind& kind : skua_test::all_operations(on_epoll()))
    for (const moment when : {moment::before_it_begins, moment::while_it_waits, moment::as_it_ends,
                              moment::after_it_ended}) {
      if (!makes_sense(kind, when)) continue;
      SCOPED_TRACE(std::string(kind.name) + ", " + name_of(when));
      for (int i = 0; i < (when == moment::as_it_ends ? 20 : 2); ++i) attempt(kind, when, i);
    }
  EXPECT_EQ(skua_test::open_fds(), fds) << "a descriptor was leaked";
}

// --- by a task of the same worker

task<bool> ended_by_a_stop(skua::join_handle<void> attempt) {
  const auto end = co_await attempt.outcome();
  co_return end.stopped();
}

task<> turns(int count) {
  for (int i = 0; i < count; ++i) co_await skua::yield();
}

task<> stopped_here(const op_kind& kind, moment when, int round) {
  trial one(kind);
  auto attempt = skua::spawn(attempts(one));
  if (when == moment::before_it_begins) {
    attempt.abort();
  } else if (when == moment::while_it_waits) {
    co_await skua::sleep(1ms);
    attempt.abort();
    if (kind.always_ends) one.operation->provoke();
  } else if (when == moment::as_it_ends) {
    // The operation is given a few turns, and the kernel as well.
    co_await turns(round % 4);
    if (round % 3 == 0) co_await skua::io::nop();
    one.operation->provoke();
    if (round % 2 == 0) co_await turns(round / 4);
    attempt.abort();
  } else {
    co_await skua::sleep(100us);
    one.operation->provoke();
    while (one.unwound.load() == 0) co_await skua::yield();
    attempt.abort();
  }
  judge(one, when, co_await ended_by_a_stop(std::move(attempt)));
}

TEST(every_operation, stopped_by_its_own_worker) {
  skua::config settings;
  settings.flavour = skua::flavour::current_thread;
  auto rt = started(settings);
  for_all([&](const op_kind& kind, moment when, int round) {
    rt.block_on(stopped_here(kind, when, round));
  });
}

// --- from another thread: a worker, or one outside

void spin(int nanoseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanoseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// On whichever thread; `attempt` is a task of another.
void stop_at(moment when, int round, trial& one, skua::join_handle<void>& attempt) {
  if (when == moment::before_it_begins) {
    attempt.abort();
    return;
  }
  while (!one.begun.load()) std::this_thread::yield();
  if (when == moment::while_it_waits) {
    std::this_thread::sleep_for(1ms);
    attempt.abort();
    if (one.kind.always_ends) one.operation->provoke();
  } else if (when == moment::as_it_ends) {
    spin(round * 2'000);
    std::thread provokes([&one] { one.operation->provoke(); });
    spin(round % 5 * 20'000);
    attempt.abort();
    provokes.join();
  } else {
    one.operation->provoke();
    while (one.unwound.load() == 0) std::this_thread::yield();
    while (!attempt.done()) std::this_thread::yield();
    attempt.abort();
  }
}

/// Occupies the workers, so that a task cannot begin.
task<> occupies(const std::atomic<bool>& over, std::atomic<int>& there) {
  ++there;
  while (!over.load()) std::this_thread::yield();
  co_return;
}

class occupied {
public:
  occupied(skua::runtime& rt, int workers) {
    for (int i = 0; i < workers; ++i) tasks_.push_back(rt.spawn(occupies(over_, there_)));
    while (there_.load() < workers) std::this_thread::yield();
  }
  occupied(const occupied&) = delete;
  occupied& operator=(const occupied&) = delete;
  ~occupied() {
    over_.store(true);
    for (const auto& one : tasks_)
      while (!one.done()) std::this_thread::yield();
  }

private:
  std::vector<skua::join_handle<void>> tasks_;
  std::atomic<bool> over_{false};
  std::atomic<int> there_{0};
};

TEST(every_operation, stopped_from_outside) {
  skua::config settings;
  settings.workers = 2;
  settings.rescue = false;
  auto rt = started(settings);
  for_all([&](const op_kind& kind, moment when, int round) {
    trial one(kind);
    std::unique_ptr<occupied> nobody_runs;
    if (when == moment::before_it_begins) nobody_runs = std::make_unique<occupied>(rt, 2);
    auto attempt = rt.spawn(attempts(one));
    stop_at(when, round, one, attempt);
    nobody_runs.reset();
    judge(one, when, rt.block_on(ended_by_a_stop(std::move(attempt))));
  });
}

TEST(every_operation, stopped_by_another_worker) {
  skua::config settings;
  settings.workers = 2;
  settings.rescue = false;
  auto rt = started(settings);
  for_all([&](const op_kind& kind, moment when, int round) {
    trial one(kind);
    std::atomic<skua::join_handle<void>*> handle{nullptr};
    std::atomic<int> there{0};
    // Holds one worker from the beginning, so that the attempt runs on the other.
    auto stops = [](moment at, int number, trial& which, std::atomic<int>& here,
                    std::atomic<skua::join_handle<void>*>& given) -> task<> {
      ++here;
      while (given.load() == nullptr) std::this_thread::yield();
      stop_at(at, number, which, *given.load());
      co_return;
    };
    auto stopper = rt.spawn(stops(when, round, one, there, handle));
    while (there.load() == 0) std::this_thread::yield();
    std::unique_ptr<occupied> nobody_runs;
    if (when == moment::before_it_begins) nobody_runs = std::make_unique<occupied>(rt, 1);
    auto attempt = rt.spawn(attempts(one));
    handle.store(&attempt);
    while (!stopper.done()) std::this_thread::yield();
    nobody_runs.reset();
    judge(one, when, rt.block_on(ended_by_a_stop(std::move(attempt))));
  });
}

}  // namespace
