// tests/support/driven_epoll.hpp: an epoll driver without a runtime, and operations that note.
#pragma once

#include "driver/epoll/epoll_driver.hpp"
#include "skua/base/clock.hpp"
#include "support/driver_tools.hpp"
#include "support/pipes.hpp"
#include "support/sockets.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace skua_test {

/// One thread that does what it is given, in turn; or, while `held`, nothing.
class one_thread final : public skua::offload_target {
public:
  explicit one_thread() : thread_([this] { run(); }) {}
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;
  ~one_thread() {
    change([this] { over_ = true; });
    thread_.join();
  }

  bool submit(skua::pool_job& job) noexcept override {
    if (refuses) return false;
    ++taken;
    change([&] { jobs_.push_back(job); });
    return true;
  }
  bool withdraw(skua::pool_job& job) noexcept override {
    const std::lock_guard hold(mutex_);
    if (!job.is_linked()) return false;
    skua::intrusive_list<skua::pool_job>::remove(job);
    return true;
  }
  void hold(bool whether) {
    change([&] { held_ = whether; });
  }

  std::atomic<bool> refuses = false;
  std::atomic<int> taken = 0;

private:
  template <typename Change>
  void change(Change what) {
    const std::lock_guard hold(mutex_);
    what();
    changed_.notify_all();
  }
  void run() {
    std::unique_lock hold(mutex_);
    for (;;) {
      changed_.wait(hold, [this] { return over_ || (!held_ && !jobs_.empty()); });
      skua::pool_job* const job = jobs_.pop_front();
      if (job == nullptr) return;
      hold.unlock();
      job->run(*job);
      hold.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  skua::intrusive_list<skua::pool_job> jobs_;
  bool held_ = false;
  bool over_ = false;
  std::thread thread_;
};

using noted_op = noted_operation;

/// A request, of a descriptor that is not closed behind the driver's back if `owned`.
inline skua::op_request request(skua::op_code code, int fd, bool owned = false) {
  skua::op_request what;
  what.code = code;
  what.fd = fd;
  what.owner = owned ? 1 : 0;
  return what;
}

inline skua::op_request request(skua::op_code code, int fd, std::string& bytes,
                                bool owned = false) {
  skua::op_request what = request(code, fd, owned);
  what.address = bytes.data();
  what.length = bytes.size();
  return what;
}

/// A driver, all that it needs, and a second one that shares its table. The test is their owner.
class driven_epoll : public testing::Test {
protected:
  driven_epoll() : driver(make()), other(make()) {}

  std::unique_ptr<skua::epoll_driver> make() {
    auto made = skua::epoll_driver::make(fds, clock, pool);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }

  /// Drives both until it has ended, and gives its result.
  std::int32_t result_of(noted_op& op) {
    for (int i = 0; i < 10'000 && op.ends() == 0; ++i) {
      driver->poll();
      other->poll();
      if (op.ends() == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    EXPECT_EQ(op.ends(), 1);
    return op.result;
  }
  std::int32_t result_of_new(noted_op& op) {
    driver->submit(op);
    return result_of(op);
  }

  /// For as long as anything could come that was there before.
  void drive_a_little() {
    for (int i = 0; i < 20; ++i) {
      driver->poll();
      other->poll();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  static constexpr std::int64_t millisecond = 1'000'000;
  skua::monotonic_clock clock;
  one_thread pool;
  skua::fd_table fds;
  std::unique_ptr<skua::epoll_driver> driver;
  std::unique_ptr<skua::epoll_driver> other;
};

}  // namespace skua_test
