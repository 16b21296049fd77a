// tests/support/driver_tools.hpp: operations, a pool and an owner for drivers without a runtime.
#pragma once

#include "driver/driver.hpp"
#include "driver/offload_target.hpp"
#include "skua/base/clock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace skua_test {

/// A pool that makes a thread for each job, or keeps the jobs until it is told to run them.
class fake_pool final : public skua::offload_target {
public:
  fake_pool() = default;
  fake_pool(const fake_pool&) = delete;
  fake_pool& operator=(const fake_pool&) = delete;
  ~fake_pool() { join(); }

  bool submit(skua::pool_job& job) noexcept override {
    const std::lock_guard hold(mutex_);
    ++submitted_;
    if (refuses) return false;
    if (keeps)
      kept_.push_back(&job);
    else
      threads_.emplace_back([&job] { job.run(job); });
    return true;
  }
  bool withdraw(skua::pool_job& job) noexcept override {
    const std::lock_guard hold(mutex_);
    return std::erase(kept_, &job) > 0;
  }

  /// Runs what was kept, on the calling thread.
  void run_kept() {
    std::vector<skua::pool_job*> jobs;
    {
      const std::lock_guard hold(mutex_);
      jobs.swap(kept_);
    }
    for (skua::pool_job* const one : jobs) one->run(*one);
  }
  void join() {
    std::vector<std::thread> ending;
    {
      const std::lock_guard hold(mutex_);
      ending.swap(threads_);
    }
    for (std::thread& one : ending) one.join();
  }
  [[nodiscard]] int submitted() const {
    const std::lock_guard hold(mutex_);
    return submitted_;
  }

  std::atomic<bool> refuses = false;
  std::atomic<bool> keeps = false;

private:
  mutable std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::vector<skua::pool_job*> kept_;
  int submitted_ = 0;
};

/// Counts how often it was done.
class noted_operation : public skua::operation {
public:
  explicit noted_operation(const skua::op_request& what = {}) noexcept : operation(what, note) {}
  /// How often `done` was called.
  [[nodiscard]] int ends() const { return ends_; }
  [[nodiscard]] bool ended() const { return ends_ > 0; }

  /// Becomes another operation, as a leaf that is awaited again does.
  void ask_for(const skua::op_request& what) {
    static_cast<skua::op_request&>(*this) = what;
    expiry().deadline = skua::no_deadline;
  }

private:
  static void note(operation& self) noexcept { ++static_cast<noted_operation&>(self).ends_; }
  std::atomic<int> ends_ = 0;
};

inline skua::op_request to_read(int fd, std::span<std::byte> into) {
  skua::op_request what;
  what.code = skua::op_code::read;
  what.fd = fd;
  what.address = into.data();
  what.length = into.size();
  return what;
}

inline skua::op_request to_poll(int fd, std::uint32_t events) {
  skua::op_request what;
  what.code = skua::op_code::poll;
  what.fd = fd;
  what.mode = events;
  return what;
}

/// Parks until `over` says so. What does not end is the business of ctest's time limit.
template <typename Over>
void park_until(skua::driver& where, Over over) {
  while (!over()) where.park(skua::driver::no_limit);
}

/// A timer that counts how often it fired, and notices if that was early.
class noted_timer : public skua::timer {
public:
  noted_timer(const skua::clock& by, std::int64_t when) : timer(note), time_(by) {
    deadline = when;
  }
  [[nodiscard]] int fired() const { return fired_; }

private:
  static void note(timer& self) noexcept {
    auto& mine = static_cast<noted_timer&>(self);
    EXPECT_GE(mine.time_.now(), mine.deadline) << "early";
    ++mine.fired_;
  }
  const skua::clock& time_;
  std::atomic<int> fired_ = 0;
};

/// True if the kernel says that this thread of ours sleeps.
inline bool thread_sleeps(pid_t which) {
  std::ifstream file("/proc/self/task/" + std::to_string(which) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 3) == ") S";
}

/// The owner of a driver, on a thread of its own, which sleeps in it over and over.
class parked {
public:
  explicit parked(skua::driver& where)
      : driver_(where), owner_([this] {
          driver_.take_over();
          tid_ = ::gettid();
          while (!over_) {
            driver_.park(skua::driver::no_limit);
            ++returns_;
          }
        }) {}
  parked(const parked&) = delete;
  parked& operator=(const parked&) = delete;
  ~parked() { end(); }

  void end() {
    if (!owner_.joinable()) return;
    over_ = true;
    driver_.wake();
    owner_.join();
  }

  /// Until it sleeps, and has slept for a few looks.
  void await_sleep() const {
    for (int in_a_row = 0; in_a_row < 3;) {
      const int before = returns_;
      const bool sleeps = tid_ != 0 && thread_sleeps(tid_) && returns_ == before;
      in_a_row = sleeps ? in_a_row + 1 : 0;
      std::this_thread::yield();
    }
  }
  /// How often park() has returned.
  [[nodiscard]] int returns() const { return returns_; }

private:
  skua::driver& driver_;
  std::atomic<bool> over_ = false;
  std::atomic<int> returns_ = 0;
  std::atomic<pid_t> tid_ = 0;
  std::thread owner_;
};

}  // namespace skua_test
