// src/runtime/blocking_pool.hpp: threads for calls that block.
#pragma once

#include "driver/offload_target.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"
#include "skua/driver/pool_job.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

namespace skua::inline SKUA_ABI {

class core;

/// Starts a thread when a call comes and none is free, up to a limit; a thread without a call ends
/// after a while. Functions are for any thread.
class blocking_pool final : public offload_target {
public:
  struct depth {
    std::size_t threads, idle, waiting;
  };

  blocking_pool(core& of, std::size_t threads_max, std::int64_t keep_alive) noexcept
      : of_(of), threads_max_(threads_max), keep_alive_(keep_alive) {}
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;

  /// False if there is no thread and the system gives none; the job is then still the caller's.
  [[nodiscard]] bool submit(pool_job& job) noexcept override;
  /// The same for work that nobody withdraws.
  [[nodiscard]] bool submit(work& item) noexcept;

  /// True: the job was waiting, and will not run. False: it has begun, or was never submitted.
  [[nodiscard]] bool withdraw(pool_job& job) noexcept override;

  /// Nothing is submitted any more: ends the threads and waits for them.
  void join() noexcept;
  /// Nobody will join(): threads end by themselves. Then close() ends them.
  void leave_alone() noexcept;
  /// In one of the pool's own threads perhaps.
  void close() noexcept;

  [[nodiscard]] depth look() const noexcept;
  /// A call is under way or waits.
  [[nodiscard]] bool is_busy() const noexcept;

private:
  using thread_list = std::list<std::thread>;
  void run(thread_list::iterator self) noexcept;
  bool make_room(std::unique_lock<std::mutex>& hold) noexcept;
  void call_came(std::unique_lock<std::mutex>& hold) noexcept;
  void run_one(std::unique_lock<std::mutex>& hold) noexcept;
  [[nodiscard]] bool wait_for_call(std::unique_lock<std::mutex>& hold) noexcept;
  void linger(std::unique_lock<std::mutex>& hold) noexcept;
  [[nodiscard]] bool nothing_waits() const noexcept { return jobs_.empty() && items_.empty(); }

  core& of_;
  const std::size_t threads_max_;
  const std::int64_t keep_alive_;

  std::atomic<std::uint32_t> came_{0};  // grows when the one that lingers has a call
  mutable std::mutex mutex_;            // over all that follows
  std::condition_variable work_came_;
  std::condition_variable thread_ended_;
  intrusive_list<pool_job> jobs_;
  work_queue items_;
  thread_list running_;
  std::thread last_ended_;  // it has joined the one that ended before it, and so on
  std::size_t waiting_ = 0;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  std::size_t named_ = 0;
  bool item_is_next_ = false;
  bool lingers_ = false;        // one thread does: it takes the next call
  bool waits_shortly_ = false;  // the last wait for a call was, so that it pays
  bool closed_ = false;
  bool left_alone_ = false;
};

}  // namespace skua::inline SKUA_ABI
