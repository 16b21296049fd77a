// tests/runtime/start_failure_test.cpp: without threads or memory a runtime fails cleanly.
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/memory_limit.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"
#include "support/thread_limit.hpp"
#include "support/thread_watch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <expected>
#include <filesystem>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::runtime;
using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::memory_limit;
using skua_test::shared_gate;
using skua_test::thread_limit;

task<int> give(int value) {
  co_return value;
}

std::size_t entries_of(const char* directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), {}));
}

/// Threads and descriptors of the process. Not memory: that is for a leak checker to see.
class belongings {
public:
  // ThreadSanitizer starts a thread of its own together with the first other one.
  belongings() : belongings(std::thread([] {})) {}

  void expect_unchanged() const {
    while (entries_of("/proc/self/task") > threads_)  // a joined thread may have a moment to go
      std::this_thread::yield();
    EXPECT_EQ(entries_of("/proc/self/fd"), files_);
  }

private:
  explicit belongings(std::thread first) {
    first.join();
    threads_ = entries_of("/proc/self/task");
    files_ = entries_of("/proc/self/fd");
  }

  std::size_t threads_ = 0;
  std::size_t files_ = 0;
};

class fault : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::config watched() {
    skua::config settings = skua_test::settings_of(GetParam(), log);
    settings.hooks = &threads;
    return settings;
  }
  void expect_no_thread_left() { EXPECT_EQ(threads.started.times(), threads.stopped.times()); }

  skua_test::thread_watch threads;
};

TEST_P(fault, of_any_worker_s_thread_is_reported_and_leaves_nothing) {
  const belongings before;
  std::size_t failures = 0;
  for (bool reached = true; reached;) {
    const thread_limit limit(failures + 1);
    const auto made = runtime::start(watched());
    reached = limit.reached();
    EXPECT_EQ(made.has_value(), !reached);
    if (!reached) break;
    ++failures;
    EXPECT_EQ(made.error().code(), std::errc::resource_unavailable_try_again);
    const std::string text(made.error().message());
    const std::string which =
        "thread " + std::to_string(failures) + " of " + std::to_string(GetParam().workers);
    EXPECT_NE(text.find(which), std::string::npos) << text;
    expect_no_thread_left();
    before.expect_unchanged();
  }
  EXPECT_EQ(failures, multi() ? GetParam().workers : 0);
  before.expect_unchanged();
}

TEST(fault_in_run, is_thrown) {
  const thread_limit limit(1);
  try {
    static_cast<void>(skua::run(give(1)));
    ADD_FAILURE() << "ran";
  } catch (const std::system_error& refused) {
    EXPECT_EQ(refused.code(), std::errc::resource_unavailable_try_again);
    EXPECT_NE(std::string_view(refused.what()).find("worker thread 1"), std::string_view::npos);
  }
}

TEST_P(fault, of_memory_at_any_moment_of_the_start_is_reported_and_leaves_nothing) {
  const belongings before;
  for (const auto whose : {memory_limit::whose::this_thread, memory_limit::whose::any_thread}) {
    std::size_t kth = 1;
    for (bool reached = true; reached; ++kth) {
      const skua::config settings = watched();
      std::expected<runtime, skua::start_error> made =
          std::unexpected(skua::start_error(std::error_code(), "not tried"));
      {
        const memory_limit limit(kth, whose);
        made = runtime::start(settings);
        reached = limit.reached();
      }
      if (made.has_value()) {
        EXPECT_EQ(made->block_on(give(1)), 1);
      } else {
        EXPECT_TRUE(reached);
        EXPECT_EQ(made.error().code(), std::errc::not_enough_memory);
        EXPECT_EQ(made.error().message(), "there is no memory for the runtime");
      }
    }
    EXPECT_GT(kth, 5U);
  }
  expect_no_thread_left();
  before.expect_unchanged();
}

/// Starts a runtime for each k, lets its k-th allocation in `doing` fail, and sees that it throws
/// std::bad_alloc and leaves a runtime that works and arguments that are gone. `doing` gets the
/// runtime and a book; the last, undisturbed time it made `objects` entries.
template <typename Doing>
void fail_every_allocation(const skua::config& settings, int objects, Doing doing) {
  std::size_t kth = 1;
  for (bool reached = true; reached; ++kth) {
    ledger book;
    bool thrown = false;
    {
      auto rt = skua_test::started(settings);
      {
        const memory_limit limit(kth);
        try {
          doing(rt, book);
        } catch (const std::bad_alloc&) {
          thrown = true;
        }
        reached = limit.reached();
      }
      EXPECT_EQ(rt.block_on(give(5)), 5) << "at allocation " << kth;
    }
    EXPECT_TRUE(reached || !thrown);
    EXPECT_TRUE(book.balanced(reached ? book.made.load() : objects)) << "at allocation " << kth;
  }
  EXPECT_GT(kth, 2U) << "nothing was allocated, so nothing was shown";
}

task<entry> give_entry(entry parameter) {
  co_return std::move(parameter);
}

TEST_P(fault, of_memory_in_spawn_is_thrown_and_destroys_the_task) {
  fail_every_allocation(watched(), 3, [](runtime& rt, ledger& book) {
    auto one = rt.spawn(give_entry(entry(book)));
    rt.get_handle().spawn(give_entry(entry(book))).detach();
    rt.spawn(skua::named("two", give_entry(entry(book)))).detach();
  });
}

TEST_P(fault, of_memory_in_block_on_is_thrown_and_destroys_the_task) {
  fail_every_allocation(watched(), 1, [](runtime& rt, ledger& book) {
    static_cast<void>(rt.block_on(give_entry(entry(book))));
  });
}

TEST_P(fault, of_memory_in_wait_all_is_thrown_and_destroys_all_tasks) {
  fail_every_allocation(watched(), 2, [](runtime& rt, ledger& book) {
    static_cast<void>(rt.wait_all(give_entry(entry(book)), give_entry(entry(book))));
  });
}

/// A hundred children, so that more than one slab of cells is needed.
task<> spawn_many(ledger& book, std::size_t kth, bool& reached, bool& thrown) {
  std::vector<skua::join_handle<entry>> held;
  held.reserve(100);
  {
    const memory_limit limit(kth);
    try {
      for (int i = 0; i < 100; ++i) held.push_back(spawn(give_entry(entry(book))));
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    reached = limit.reached();
  }
  for (auto& one : held) co_await one.wait();
}

TEST_P(fault, of_memory_in_a_task_s_spawn_is_thrown_there) {
  std::size_t kth = 1;
  for (bool reached = true; reached; ++kth) {
    ledger book;
    bool thrown = false;
    {
      auto rt = skua_test::started(watched());
      rt.block_on(spawn_many(book, kth, reached, thrown));
    }
    EXPECT_EQ(thrown, reached);
    EXPECT_TRUE(book.balanced(book.made));
  }
  EXPECT_GT(kth, 2U);
}

TEST_P(fault, of_memory_while_somebody_looks_at_the_tasks_changes_nothing) {
  fail_every_allocation(watched(), 3, [](runtime& rt, ledger& book) {
    std::vector<skua::join_handle<entry>> held;
    held.reserve(3);
    for (int i = 0; i < 3; ++i) held.push_back(rt.spawn(give_entry(entry(book))));
    static_cast<void>(rt.tasks());
    static_cast<void>(rt.metrics());
  });
}

int six() {
  return 6;
}

task<std::string> call_blocking() {
  try {
    const int value = co_await skua::spawn_blocking(six);
    co_return std::to_string(value);
  } catch (const std::system_error& refused) {
    co_return refused.code() == std::errc::resource_unavailable_try_again ? "refused" : "?";
  } catch (const std::bad_alloc&) {
    co_return "refused";
  }
}

TEST_P(fault, of_a_thread_for_a_blocking_call_is_thrown_by_the_call) {
  auto rt = skua_test::started(watched());
  {
    const thread_limit limit(1);
    EXPECT_EQ(rt.block_on(call_blocking()), "refused");
    EXPECT_TRUE(limit.reached());
  }
  EXPECT_EQ(rt.block_on(call_blocking()), "6") << "the next one finds a thread";
}

TEST_P(fault, of_a_thread_for_a_blocking_section_lets_it_block_the_worker) {
  if (!GetParam().steals()) GTEST_SKIP() << "there is none";
  auto rt = skua_test::started(watched());
  const thread_limit limit(1);
  const auto blocks = [&] { return skua::block_in_place([] { return 8; }); };
  EXPECT_EQ(rt.block_on(blocks), 8);
  EXPECT_TRUE(limit.reached());
  EXPECT_EQ(rt.block_on(give(1)), 1);
}

TEST_P(fault, of_memory_for_the_thread_of_a_blocking_call_is_thrown_by_the_call) {
  std::size_t kth = 1;
  for (bool reached = true; reached; ++kth) {
    auto rt = skua_test::started(watched());
    EXPECT_EQ(rt.block_on(give(1)), 1);  // has its cells now
    std::string got;
    {
      const memory_limit limit(kth, memory_limit::whose::any_thread);
      try {
        got = rt.block_on(call_blocking());
      } catch (const std::bad_alloc&) {
        got = "refused";
      }
      reached = limit.reached();
    }
    EXPECT_TRUE(got == "6" || (reached && got == "refused")) << got << " at allocation " << kth;
    EXPECT_EQ(rt.block_on(call_blocking()), "6");
  }
  EXPECT_GT(kth, 2U);
}

struct told_to {};

TEST_P(fault, of_memory_while_an_unseen_exception_is_reported_is_harmless) {
  const auto fails = []() -> task<> {
    throw told_to();
    co_return;
  };
  const auto drops = [&]() -> task<> {
    spawn(fails).detach();
    co_return;
  };
  std::size_t kth = 1;
  for (bool reached = true; reached; ++kth) {
    auto rt = skua_test::started(watched());
    EXPECT_EQ(rt.block_on(give(1)), 1);
    {
      const memory_limit limit(kth, memory_limit::whose::any_thread);
      try {
        rt.block_on(drops);
      } catch (const std::bad_alloc&) {
      }
      reached = limit.reached();
    }
    EXPECT_EQ(rt.block_on(give(2)), 2);
  }
  EXPECT_GT(kth, 2U);
  EXPECT_GE(log.count(skua_test::unseen_exception), 1U);
}

/// So many that they do not fit into a worker's queue, nor into what is kept for those that do not.
task<> spawn_crowd(memory_limit* limit, bool& reached) {
  constexpr int crowd = 10'000;
  std::vector<skua::join_handle<int>> held;
  held.reserve(crowd);
  for (int i = 0; i < crowd; ++i) held.push_back(spawn(give(i)));
  if (limit != nullptr) reached = limit->reached();
  for (int i = 0; i < crowd; ++i)
    EXPECT_EQ(co_await std::move(held[static_cast<std::size_t>(i)]), i);
}

TEST(crowd, goes_through_the_shared_queue_without_memory) {
  skua::config settings;
  settings.workers = 1;  // nobody else takes what is shared meanwhile
  auto rt = skua_test::started(settings);
  bool reached = false;
  rt.block_on(spawn_crowd(nullptr, reached));  // there are cells for all then
  for (std::size_t kth = 1; kth <= 3; ++kth) {
    rt.block_on([kth, &reached]() -> task<> {
      memory_limit limit(kth + 1);  // behind the handles'
      co_await spawn_crowd(&limit, reached);
    });
    EXPECT_TRUE(reached) << kth;
  }
}

INSTANTIATE_TEST_SUITE_P(runtimes, fault, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
