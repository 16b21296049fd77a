// tests/model/crew.hpp: workers that look for work as src/runtime/worker.cpp has them do, explored.
#pragma once

#include "driver/parker.hpp"
#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/futex.hpp"
#include "sched/idle.hpp"
#include "sched/inject_queue.hpp"
#include "sched/local_queue.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace skua_model {

/// The shipped queues, idle protocol and parkers, with a loop around them that takes the same steps
/// as worker::take_turn(), but for the slot and timers. Workers end when every piece of work is
/// done; if one sleeps for ever instead, the explorer calls it a deadlock.
class crew {
public:
  static constexpr std::size_t workers_max = 3;

  crew(std::size_t workers, std::size_t pieces)
      : workers_(workers),
        idle_(workers),
        pieces_(std::make_unique<piece[]>(pieces)),
        left_(pieces) {
    futex::spurious_left = 0;
  }

  /// In the scenario, before it runs.

  /// A piece keeps its worker busy until all others have begun.
  bool pieces_need_each_other = false;
  /// This one has found nothing, and sleeps.
  void asleep(std::size_t me) {
    (void)idle_.park(me, false);
    asleep_[me] = true;
  }
  /// This one is at work already, and has these pieces in its queue.
  void queue_at(std::size_t me, std::size_t count) {
    for (; count > 0; --count) {
      work_queue overflow;
      queues_[me].push(next_piece(), overflow);
      explorer::expect(overflow.empty(), "the pieces fit");
    }
  }

  /// A thread outside adds a piece.
  void add() {
    explorer::expect(inject_.push(next_piece()), "the queue is open");
    wake_one();
  }

  void labour(std::size_t me) {
    bool searching = false;
    if (asleep_[me]) {
      parkers_[me].park(parker_type::no_deadline);
      searching = !idle_.unpark(me);
    }
    while (!over_) take_turn(me, searching);
  }

  void expect_all_done() {
    if (unfair_) return throw_away();
    for (std::size_t i = 0; i < made_; ++i)
      explorer::expect(pieces_[i].done == 1, "each piece is done once");
  }

private:
  using work = skua::work;
  using work_queue = skua::work_queue;
  using parker_type = skua::parker<atomics, futex>;

  static void run_nothing(work&) noexcept {}
  struct piece : work {
    piece() : work(run_nothing) {}
    plain<int> content;
    int done = 0;
  };

  work& next_piece() {
    piece& one = pieces_[made_++];
    one.content.write(7);
    return one;
  }

  void take_turn(std::size_t me, bool& searching) {
    work* item = queues_[me].pop();
    if (item == nullptr) item = next_injected(me);
    if (item == nullptr) item = steal(me, searching);
    if (item == nullptr) return rest(me, searching);
    in_vain_[me] = 0;
    if (searching) {
      searching = false;
      if (idle_.stop_searching()) wake_one();
    }
    run(*item);
  }

  work* next_injected(std::size_t me) {
    const std::size_t waiting = inject_.size();
    if (waiting == 0) return nullptr;
    std::array<work*, 8> room{};
    const std::size_t wanted = std::min((waiting / workers_) + 1, room.size());
    const auto batch = std::span(room).first(inject_.pop_batch(std::span(room).first(wanted)));
    if (batch.empty()) return nullptr;
    const auto rest = batch.subspan(1);
    if (rest.empty()) return batch.front();
    explorer::expect(queues_[me].push_some(rest) == rest.size(), "the pieces fit");
    wake_one();
    return batch.front();
  }

  work* steal(std::size_t me, bool& searching) {
    if (!searching) searching = idle_.try_search();
    if (!searching) return nullptr;
    for (std::size_t i = 1; i < workers_; ++i)
      if (work* const item = queues_[(me + i) % workers_].steal_into(queues_[me])) return item;
    return next_injected(me);
  }

  void rest(std::size_t me, bool& searching) {
    const bool look_again = idle_.park(me, searching);
    searching = false;
    if (look_again && work_elsewhere(me)) {
      if (++in_vain_[me] > in_vain_max) return give_up();
      searching = !idle_.unpark(me) || idle_.try_search();
      return;
    }
    parkers_[me].park(parker_type::no_deadline);
    searching = !idle_.unpark(me);
  }

  bool work_elsewhere(std::size_t me) const {
    if (inject_.size() > 0) return true;
    for (std::size_t i = 1; i < workers_; ++i)
      if (queues_[(me + i) % workers_].size() > 0) return true;
    return false;
  }

  void wake_one() {
    const std::size_t whom = idle_.worker_to_wake();
    if (whom != idle_.none) parkers_[whom].wake();
  }

  void run(work& item) {
    auto& one = static_cast<piece&>(item);
    explorer::expect(one.content.read() == 7, "the piece is seen whole");
    ++one.done;
    explorer::expect(one.done == 1, "each piece is done once");
    if (--left_ == 0) {
      end_all();
    } else if (pieces_need_each_other) {
      explorer::current().block_until([this] { return over_; }, "the other pieces");
    }
  }

  void end_all() {
    over_ = true;
    for (std::size_t i = 0; i < workers_; ++i) parkers_[i].wake();
  }
  /// It sees work where there is none any more, again and again. The model allows that for ever, a
  /// machine does not: this execution counts for nothing.
  void give_up() {
    unfair_ = true;
    end_all();
  }

  void throw_away() {
    while (inject_.pop() != nullptr) {
    }
    for (auto& each : queues_)
      while (each.pop() != nullptr) {
      }
  }

  static constexpr int in_vain_max = 2;

  const std::size_t workers_;
  skua::idle<atomics, mutex> idle_;
  skua::inject_queue<atomics, mutex> inject_;
  std::array<skua::local_queue<atomics, 4>, workers_max> queues_;
  std::array<parker_type, workers_max> parkers_;
  // The explorer's own: one fiber runs at a time.
  std::unique_ptr<piece[]> pieces_;
  std::size_t made_ = 0;
  std::size_t left_;
  bool over_ = false;
  bool unfair_ = false;
  std::array<bool, workers_max> asleep_{};
  std::array<int, workers_max> in_vain_{};
};

}  // namespace skua_model
