// skua/runtime/config.hpp: every setting of a runtime, with its default and the reason for it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/log.hpp"
#include "skua/driver/driver_info.hpp"
#include "skua/runtime/dispatcher.hpp"
#include "skua/runtime/pinning.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::inline SKUA_ABI {

class fault_plan;
class hooks;

/// How workers share what there is to do.
enum class flavour : unsigned char {
  multi_thread,    ///< workers with threads of their own, which steal from each other
  current_thread,  ///< one worker, on the thread that calls block_on()
  /// Workers with threads and rings of their own, which share nothing: a task stays on the worker
  /// where a dispatcher has placed it. What it touches needs no lock against its neighbours, and
  /// nobody helps a worker that has too much to do.
  thread_per_core,
};

/// Which of the tasks that a worker's own tasks have spawned or woken it runs first. Tasks that
/// give way, that come from elsewhere or whose input or output is done run in the order in which
/// they came, in both.
enum class order : unsigned char {
  /// The oldest: each waits for those that came before it. For services.
  fifo,
  /// The newest, while others steal the oldest: for trees of tasks that wait for their children
  /// (fork and join). What is alive grows with the depth of the tree and not with its width. Tasks
  /// in line, see above, have one turn in event_interval, and all when there is nothing newer; the
  /// oldest of the others one in 64 * global_queue_interval: every 13 ms, or 8,128 turns if those
  /// are short. So nobody waits for ever, but for a service that is much less fair than `fifo`.
  lifo,
};

/// What becomes of an exception that ends a task whose handle nobody holds any more.
enum class unhandled : unsigned char {
  log,       ///< an error in the log, with the task's id, name and place; nothing else
  shut_down  ///< the same, and every task of the runtime is asked to stop
};

/// Takes effect when a runtime starts; runtime::start() refuses what makes no sense.
struct config {
  /// For `workers` and `global_queue_interval`: let the runtime decide.
  static constexpr std::size_t automatic = ~std::size_t{0};
  static constexpr std::size_t name_max = 32;  ///< bytes of `name`

  /// How workers share what there is to do: see `flavour`.
  skua::flavour flavour = flavour::multi_thread;

  /// See `order`. `lifo` needs multi_thread.
  skua::order order = order::fifo;

  /// Automatic: the CPUs this process may use, by affinity and by its cgroup's quota. 1 to 1,024.
  std::size_t workers = automatic;

  /// thread_per_core: chooses the worker of each task but those of spawn_local() and spawn_on().
  /// None: dispatch::local_first.
  any_dispatcher dispatcher = {};

  /// Which CPUs the workers' threads may run on; nothing by default: the kernel knows better which
  /// is free, unless the machine is ours alone. Not for current_thread.
  skua::pinning pinning = {};

  /// Threads are called name-0, name-1, ... Copied at start; at most name_max bytes.
  std::string_view name = "skua";

  /// How many tasks a worker resumes before it looks at timers and I/O, and calls the kernel if it
  /// has not for 200 us. 61: often enough to be fresh, seldom enough to cost little, and prime, so
  /// that it does not beat with other rhythms.
  std::uint32_t event_interval = 61;

  /// How many tasks a worker resumes before it looks at the shared queue, although its own is not
  /// empty. Automatic: about one look per 200 microseconds, from every 2nd to every 127th. At least
  /// 2, so that the own queue has its turn.
  std::size_t global_queue_interval = automatic;

  /// How long a worker without work stays awake and looks for some, in nanoseconds, if its last
  /// sleep was shorter than that: to sleep and to be woken takes tens of microseconds, and a peer
  /// that answers at once is there sooner. One worker at a time: an idle runtime sleeps. 0: never;
  /// at most 10 ms. Workers of multi_thread only; threads of the blocking pool wait likewise.
  std::int64_t linger = 50'000;

  /// What a task may do at once in one turn before it gives way: enough for a batch, and short.
  std::uint32_t budget = 128;

  /// A task woken by a running one goes to a slot and runs next, with a warm cache. False: it goes
  /// to the end of the queue.
  bool lifo_slot = true;

  /// try_spawn() refuses while so many tasks wait in the shared queue; of thread_per_core, in the
  /// inboxes of all workers.
  std::size_t spawn_queue_limit = 65'536;

  /// Threads of the pool for blocking calls, at most; started when needed. Enough for calls that
  /// wait for disks and locks, few enough not to run out of memory. One that stands in for a worker
  /// in block_in_place() counts.
  std::size_t blocking_threads = 512;

  /// How long such a thread waits for the next call before it ends: 10 s.
  std::int64_t blocking_keep_alive = 10'000'000'000;

  /// How to talk to the kernel. Automatic: what SKUA_BACKEND in the environment says (uring, epoll
  /// or none); if it says nothing, io_uring where it works and epoll where it does not. One that is
  /// named here or there and does not work is an error at start.
  skua::backend backend = backend::automatic;

  /// Room in each worker's ring for operations that the kernel has not taken yet, 1 to 32,768. More
  /// wait in line: 256 are four looks' worth. The kernel rounds up to a power of two.
  std::uint32_t ring_submissions = 256;

  /// Room for completions that were not looked at yet, at least as many. More than that cost an
  /// additional system call.
  std::uint32_t ring_completions = 2'048;

  /// A worker that sleeps looks after those that run, every 5 ms, and serves what waits at one that
  /// is stuck in a long computation or a blocking call: its tasks, timers and I/O. False: they
  /// wait. Only for multi_thread, and so are reports of stalls.
  bool rescue = true;

  /// A task that holds its worker for so long, in nanoseconds, is reported once, in the log and in
  /// the metrics, if another worker sleeps and can notice: 100 ms. 0: never.
  std::int64_t stall_threshold = 100'000'000;

  /// The report of a stall shows where its thread is: the number of a real-time signal (SIGRTMIN to
  /// SIGRTMAX) that the program leaves to us, and whose handler we set. 0: no.
  int stall_signal = 0;

  /// Measures how long tasks wait in queues and run; costs two looks at the clock per resume.
  bool histograms = false;

  /// See `unhandled`. Logged by default: one task's failure should not end a service.
  skua::unhandled unhandled = unhandled::log;

  // Hooks, clock, faults and log are borrowed: until the runtime has ended, and the log until its
  // last join_handle is gone, too. A shutdown(timeout) that left tasks alone has not ended it: then
  // for as long as those run.

  /// Called on events of workers and tasks; null: nobody watches.
  skua::hooks* hooks = nullptr;

  /// Where timers take the time from; null: CLOCK_MONOTONIC.
  const skua::clock* clock = nullptr;

  /// Time stands still while anything is left to do, and then jumps to the next timer: for tests in
  /// which days pass in no time, always in the same way. See testing::virtual_time(). The flavour
  /// is current_thread, and `clock` is null. A shutdown(timeout) goes by this time, too.
  bool virtual_time = false;

  /// Which operations go wrong, for tests; null: those that do by themselves.
  fault_plan* faults = nullptr;

  /// Where random choices (whom to steal from) start. The same seed, the same choices.
  std::uint64_t seed = 0x9e3779b97f4a7c15;

  /// Where the runtime's own messages go.
  logger log = logger();
};

}  // namespace skua::inline SKUA_ABI
