// tests/model/explorer.hpp: runs a scenario in every order of its steps that a bound allows.
#pragma once

#include "model/vector_clock.hpp"

#include <boost/context/fiber.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace skua_model {

struct limits {
  /// How often a thread that could go on may be interrupted in one execution.
  int preemptions = 2;
  /// Stop after so many executions, and say that it was not all.
  std::uint64_t executions = 5'000'000;
  /// Stop after so many seconds; 0: no limit.
  double seconds = 0;
  /// Instead of depth-first: this many executions at random from `seed`, by priorities that change
  /// at a few random steps (probabilistic concurrency testing), which finds bugs that need many
  /// preemptions.
  std::uint64_t random_executions = 0;
  std::uint64_t seed = 1;
  /// Run only the execution with these choices, as a failure printed them. If it was found at
  /// random, `preemptions` must be high.
  std::string replay;
};

struct exploration {
  std::uint64_t executions = 0;
  bool complete = false;
};

/// Checks a program of a few threads on the C++ memory model (without consume and fences).
///
/// Threads are fibers. Before each operation on a shared object (atomic.hpp) the explorer chooses
/// who goes on; at each atomic load, which of the values it may legally see, stale ones included.
/// All choices are tried, depth-first, within the bound on preemptions; stores to one object become
/// visible in the order in which they were executed.
///
/// A failed expect(), a data race, a deadlock or an execution without end prints what happened and
/// the choices that lead there, and ends the process with failure_exit_code. An abort inside the
/// explored code (a check()) prints the choices too.
class explorer {
public:
  static constexpr int failure_exit_code = 17;

  /// Runs `scenario` again and again. It makes its objects, calls run() with the threads' bodies,
  /// and then looks at what is left.
  static exploration explore(const limits& within, const std::function<void()>& scenario);

  // For scenarios.

  /// Runs the bodies concurrently until all have returned. Once per execution.
  static void run(std::vector<std::function<void()>> bodies);
  /// Ends the exploration with a report unless `holds`.
  static void expect(bool holds, const char* what);

  // For the shared objects in atomic.hpp.

  static explorer& current();
  /// The running thread may be interrupted here.
  void step();
  /// Waits until `ready()`, which another thread's step makes true.
  void block_until(const std::function<bool()>& ready, const char* what);
  /// As block_until(), for a wait that may also end by itself at any time. Giving way here does not
  /// count as a preemption. The caller looks at how it ended.
  void block_for_a_while(const char* what);
  /// One of `count`; at random, `preferred` if there is one.
  std::size_t choose(std::size_t count, std::size_t preferred = none);
  [[nodiscard]] std::size_t thread() const { return running_; }
  [[nodiscard]] vector_clock& clock() { return threads_[running_].clock; }
  /// The time of the next event of the running thread.
  std::uint32_t tick() { return ++threads_[running_].clock.seen[running_]; }
  [[noreturn]] void fail(const std::string& what);
  /// The two sides of an asymmetric barrier. All heavy ones come one after the other, and each
  /// comes before or after each light one; what precedes the first of a pair happens before what
  /// follows the second. (Two light ones order nothing.)
  void heavy_barrier();
  void light_barrier();

private:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::uint64_t steps_max = 20'000;

  struct choice {
    std::uint32_t taken;
    std::uint32_t count;
  };
  struct model_thread {
    boost::context::fiber fiber;
    vector_clock clock;
    vector_clock lit;  // what preceded its last barrier
    std::function<void()> body;
    std::function<bool()> ready;  // empty: not blocked
    const char* waits_for = "";
    std::uint64_t priority = 0;  // at random only
    bool finished = true;
    bool gives_way = false;  // others may go on in its place, at no cost
  };

  explorer(const limits& within, const std::function<void()>& scenario);
  void run_once();
  bool next_execution();
  void start(std::size_t index, std::function<void()> body);
  void switch_to_scheduler();
  std::size_t pick_thread();
  void assign_priorities();
  std::size_t highest_priority(const std::array<std::size_t, threads_max>& able, std::size_t count);
  std::uint64_t random();
  [[nodiscard]] bool can_run(std::size_t index) const;
  [[nodiscard]] std::string choices_taken() const;
  static void report_abort(int signal);

  limits within_;
  const std::function<void()>& scenario_;
  std::vector<choice> choices_;
  std::size_t depth_ = 0;
  std::array<model_thread, threads_max> threads_;
  boost::context::fiber scheduler_;
  vector_clock heavies_;  // what preceded all heavy barriers so far
  std::size_t running_ = 0;
  std::size_t started_ = 0;
  int preemptions_ = 0;
  std::uint64_t executions_ = 0;
  std::uint64_t random_state_;
  std::uint64_t operations_ = 0;          // in this execution
  std::uint64_t steps_ = 0;               // in this execution
  std::uint64_t longest_ = 1;             // of all executions so far
  std::vector<std::uint64_t> demotions_;  // steps at which the running thread falls behind
};

}  // namespace skua_model
