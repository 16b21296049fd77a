// tests/model/explorer.cpp: choose, switch, back up, report.
#include "model/explorer.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace skua_model {
namespace {

explorer* exploring = nullptr;

constexpr char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

}  // namespace

explorer& explorer::current() {
  return *exploring;
}

explorer::explorer(const limits& within, const std::function<void()>& scenario)
    : within_(within), scenario_(scenario), random_state_(within.seed) {
  for (const char digit : within_.replay) {
    const char* found = std::char_traits<char>::find(digits, sizeof digits - 1, digit);
    choices_.push_back({static_cast<std::uint32_t>(found - digits), 0});
  }
}

exploration explorer::explore(const limits& within, const std::function<void()>& scenario) {
  explorer self(within, scenario);
  exploring = &self;
  auto* const old_handler = std::signal(SIGABRT, report_abort);
  const auto start = std::chrono::steady_clock::now();
  exploration result;
  for (;;) {
    self.run_once();
    ++self.executions_;
    if (!self.next_execution()) {
      result.complete = within.random_executions == 0 && within.replay.empty();
      break;
    }
    if (self.executions_ >= within.executions) break;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (within.seconds > 0 && self.executions_ % 64 == 0 && took.count() > within.seconds) break;
  }
  std::signal(SIGABRT, old_handler);
  exploring = nullptr;
  result.executions = self.executions_;
  return result;
}

void explorer::run_once() {
  depth_ = 0;
  started_ = 0;
  preemptions_ = 0;
  operations_ = 0;
  running_ = 0;
  heavies_ = vector_clock();
  longest_ = std::max(longest_, std::exchange(steps_, 0));
  if (within_.random_executions > 0) assign_priorities();
  start(0, [this] { scenario_(); });
  for (;;) {
    const std::size_t next = pick_thread();
    if (next == threads_max) break;
    running_ = next;
    threads_[next].fiber = std::move(threads_[next].fiber).resume();
  }
}

void explorer::start(std::size_t index, std::function<void()> body) {
  model_thread& one = threads_[index];
  one.body = std::move(body);
  one.ready = nullptr;
  one.finished = false;
  one.lit = vector_clock();
  one.clock = index == 0 ? vector_clock() : threads_[0].clock;
  ++one.clock.seen[index];
  ++started_;
  if (one.fiber) return;  // made for an earlier execution; waits for its next body
  one.fiber = boost::context::fiber([this, index](boost::context::fiber&& back) {
    scheduler_ = std::move(back);
    for (;;) {
      threads_[index].body();
      threads_[index].finished = true;
      switch_to_scheduler();
    }
    return std::move(scheduler_);
  });
}

void explorer::switch_to_scheduler() {
  scheduler_ = std::move(scheduler_).resume();
}

bool explorer::can_run(std::size_t index) const {
  const model_thread& one = threads_[index];
  return !one.finished && (!one.ready || one.ready());
}

// Goes on with the running thread, or interrupts it if the bound still allows.
std::size_t explorer::pick_thread() {
  std::array<std::size_t, threads_max> able{};
  std::size_t count = 0;
  const bool at_random = within_.random_executions > 0;
  const bool can_go_on = can_run(running_);
  if (can_go_on) able[count++] = running_;
  const bool interrupts = can_go_on && !threads_[running_].gives_way;
  if (!interrupts || at_random || preemptions_ < within_.preemptions) {
    for (std::size_t i = 0; i < started_; ++i)
      if ((i != running_ || !can_go_on) && can_run(i)) able[count++] = i;
  }
  if (count == 0) {
    std::string stuck;
    for (std::size_t i = 0; i < started_; ++i) {
      if (!threads_[i].finished)
        stuck += " thread " + std::to_string(i) + " waits for " + threads_[i].waits_for + ";";
    }
    if (!stuck.empty()) fail("deadlock:" + stuck);
    return threads_max;
  }
  const std::size_t taken = choose(count, at_random ? highest_priority(able, count) : none);
  if (interrupts && taken != 0) ++preemptions_;
  return able[taken];
}

// Every thread gets a random priority; at each of a few random steps the one that runs falls to the
// end. With d such steps, a bug that needs d ordering constraints is found with a probability that
// falls only polynomially with the length.
void explorer::assign_priorities() {
  for (model_thread& one : threads_) one.priority = (random() >> 1) | (std::uint64_t{1} << 32);
  demotions_.clear();
  for (int i = 0; i < within_.preemptions; ++i) demotions_.push_back(random() % longest_);
}

std::size_t explorer::highest_priority(const std::array<std::size_t, threads_max>& able,
                                       std::size_t count) {
  for (std::size_t i = 0; i < demotions_.size(); ++i)
    if (demotions_[i] == steps_) threads_[running_].priority = i;
  ++steps_;
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i)
    if (threads_[able[i]].priority > threads_[able[best]].priority) best = i;
  return best;
}

std::uint64_t explorer::random() {
  random_state_ = random_state_ * 6364136223846793005U + 1442695040888963407U;
  return random_state_ >> 31;
}

std::size_t explorer::choose(std::size_t count, std::size_t preferred) {
  if (count == 1) return 0;
  if (depth_ == choices_.size()) {
    std::size_t taken = 0;
    if (within_.random_executions > 0) taken = preferred != none ? preferred : random() % count;
    choices_.push_back({static_cast<std::uint32_t>(taken), 0});
  }
  choice& one = choices_[depth_++];
  one.count = static_cast<std::uint32_t>(count);
  if (one.taken >= count) fail("these choices belong to another scenario");
  return one.taken;
}

// Backs up to the last choice with an untried alternative.
bool explorer::next_execution() {
  if (!within_.replay.empty()) return false;
  if (within_.random_executions > 0) {
    choices_.clear();
    return executions_ < within_.random_executions;
  }
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count)
    choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

void explorer::run(std::vector<std::function<void()>> bodies) {
  explorer& self = current();
  const std::size_t first = self.started_;
  for (auto& body : bodies) self.start(self.started_, std::move(body));
  self.block_until(
      [&self, first] {
        for (std::size_t i = first; i < self.started_; ++i)
          if (!self.threads_[i].finished) return false;
        return true;
      },
      "its threads");
  for (std::size_t i = first; i < self.started_; ++i)
    self.threads_[0].clock.join(self.threads_[i].clock);
}

void explorer::step() {
  if (++operations_ > steps_max) fail("an execution that does not end");
  if (started_ > 1) switch_to_scheduler();
}

void explorer::block_until(const std::function<bool()>& ready, const char* what) {
  model_thread& self = threads_[running_];
  self.ready = ready;
  self.waits_for = what;
  switch_to_scheduler();
  self.ready = nullptr;
}

void explorer::block_for_a_while(const char* what) {
  threads_[running_].gives_way = true;
  block_until([] { return true; }, what);
  threads_[running_].gives_way = false;
}

void explorer::heavy_barrier() {
  step();
  tick();
  model_thread& self = threads_[running_];
  for (std::size_t i = 0; i < started_; ++i) self.clock.join(threads_[i].lit);
  self.clock.join(heavies_);
  self.lit = heavies_ = self.clock;
}

void explorer::light_barrier() {
  step();
  tick();
  model_thread& self = threads_[running_];
  self.clock.join(heavies_);
  self.lit = self.clock;
}

void explorer::expect(bool holds, const char* what) {
  if (!holds) current().fail(what);
}

std::string explorer::choices_taken() const {
  std::string text;
  for (std::size_t i = 0; i < depth_; ++i) text += digits[choices_[i].taken];
  return text;
}

void explorer::fail(const std::string& what) {
  std::printf("execution %s: %s\nreplay with: %s\n", std::to_string(executions_ + 1).c_str(),
              what.c_str(), choices_taken().c_str());
  std::fflush(stdout);
  std::_Exit(failure_exit_code);  // the fibers cannot be unwound through noexcept functions
}

void explorer::report_abort(int) {
  if (exploring != nullptr) exploring->fail("the explored code aborted");
}

}  // namespace skua_model
