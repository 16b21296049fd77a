// tests/support/watchdog.hpp: ends a test that hangs, and tells first what its runtimes were doing.
#pragma once

#include "skua/base/sanitizer.hpp"
#include "skua/runtime/runtime.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace skua_test {

/// Prints numbers and tasks of a runtime to standard error.
inline void print_state(const skua::runtime_handle& of) {
  const skua::metrics_snapshot now = of.metrics();
  std::fprintf(
      stderr,
      "runtime: spawned %llu, ended %llu, cancelled %llu, live %llu; inject %zu; pool: "
      "%zu threads, %zu idle, %zu calls wait\n",
      static_cast<unsigned long long>(now.spawned), static_cast<unsigned long long>(now.ended),
      static_cast<unsigned long long>(now.cancelled), static_cast<unsigned long long>(now.live),
      now.inject_depth, now.blocking_threads, now.blocking_idle, now.blocking_depth);
  for (std::size_t i = 0; i < now.workers.size(); ++i)
    std::fprintf(stderr, "  worker %zu: queue %zu, polls %llu, parks %llu\n", i,
                 now.workers[i].queue_depth, static_cast<unsigned long long>(now.workers[i].polls),
                 static_cast<unsigned long long>(now.workers[i].parks));
  constexpr const char* states[] = {"active", "waiting", "ended"};
  for (const skua::task_info& one : of.tasks())
    std::fprintf(stderr, "  task %llu '%s' of line %u: %s%s, chain of %zu\n",
                 static_cast<unsigned long long>(one.id), std::string(one.name()).c_str(),
                 static_cast<unsigned>(one.where.line()), states[static_cast<int>(one.now)],
                 one.stop_requested ? ", asked to stop" : "", one.chain_length);
}

/// Aborts the program if nobody called progress() for a while: SKUA_TEST_WATCHDOG seconds, or 30,
/// or 120 under a sanitizer. Shows the runtimes that are registered.
class watchdog {
public:
  explicit watchdog(std::string what)
      : what_(std::move(what)), patience_(seconds()), looks_([this] { look(); }) {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() {
    {
      const std::lock_guard hold(mutex_);
      over_ = true;
    }
    ends_.notify_all();
    looks_.join();
  }

  /// From any thread.
  void progress() noexcept {
    // order: none; a number that stands for itself.
    steps_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Keeps the runtime's memory alive while it lives; needs an object that outlives it.
  class registration {
  public:
    registration(watchdog& with, skua::runtime_handle what) : with_(with), what_(std::move(what)) {
      const std::lock_guard hold(with_.mutex_);
      with_.watched_.push_back(this);
    }
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;
    ~registration() {
      const std::lock_guard hold(with_.mutex_);
      std::erase(with_.watched_, this);
    }
    [[nodiscard]] const skua::runtime_handle& what() const noexcept { return what_; }

  private:
    friend class watchdog;
    watchdog& with_;
    skua::runtime_handle what_;
  };

  /// Copies of the handles that are registered now.
  [[nodiscard]] std::vector<skua::runtime_handle> watched() {
    const std::lock_guard hold(mutex_);
    std::vector<skua::runtime_handle> all;
    for (const registration* one : watched_) all.push_back(one->what_);
    return all;
  }

private:
  static std::chrono::seconds seconds() {
    const char* const set = std::getenv("SKUA_TEST_WATCHDOG");
    if (set != nullptr && *set != '\0') return std::chrono::seconds(std::atoi(set));
    return std::chrono::seconds(skua::built_with_tsan || skua::built_with_asan ? 120 : 30);
  }

  void look() {
    std::unique_lock hold(mutex_);
    std::uint64_t seen = 0;
    for (;;) {
      if (ends_.wait_for(hold, patience_, [this] { return over_; })) return;
      // order: none; see progress().
      const std::uint64_t now = steps_.load(std::memory_order_relaxed);
      if (now == seen) break;
      seen = now;
    }
    std::fprintf(stderr, "watchdog: no progress for %lld s after %llu steps: %s\n",
                 static_cast<long long>(patience_.count()), static_cast<unsigned long long>(seen),
                 what_.c_str());
    for (const registration* one : watched_) print_state(one->what_);
    std::fflush(nullptr);
    std::abort();
  }

  const std::string what_;
  const std::chrono::seconds patience_;
  std::atomic<std::uint64_t> steps_{1};
  std::mutex mutex_;
  std::condition_variable ends_;
  std::vector<const registration*> watched_;  // under the mutex
  bool over_ = false;                         // under the mutex
  std::thread looks_;                         // last: it uses all of these
};

}  // namespace skua_test
