// tests/runtime/lifecycle_test.cpp: every way through a task's life ends it once, and tells so.
#include "skua/coro/current_context.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "skua/runtime/hooks.hpp"
#include "skua/runtime/runtime.hpp"
#include "support/busy_workers.hpp"
#include "support/event.hpp"
#include "support/ledger.hpp"
#include "support/log_recorder.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using skua::task;
using skua_test::busy_workers;
using skua_test::entry;
using skua_test::event;
using skua_test::kind;
using skua_test::ledger;
using skua_test::log_recorder;
using skua_test::shared_gate;

/// How the task ends if nobody stops it.
enum class ending { value, exception, stop };

/// The stations of its life, at each of which the test stands still and may do something to it.
enum class station { before_start, running, waiting, after_end, never };

constexpr std::array all_endings{ending::value, ending::exception, ending::stop};
constexpr std::array all_stations{station::before_start, station::running, station::waiting,
                                  station::after_end, station::never};

struct plan {
  ending end;
  station dropped;     // never: awaited
  bool awaited_early;  // a thread waits from the beginning, not only after the end
  station aborted;
  station shut_down;

  [[nodiscard]] bool possible() const {
    if (dropped != station::never && awaited_early) return false;
    return aborted == station::never || aborted <= dropped;  // who has no handle cannot abort
  }
  /// When it is asked to stop, by whom ever.
  [[nodiscard]] station stopped() const { return std::min(aborted, shut_down); }
  [[nodiscard]] bool starts() const { return stopped() != station::before_start; }
  /// What whoever awaits it gets.
  [[nodiscard]] ending outcome() const {
    return stopped() < station::after_end ? ending::stop : end;
  }
  [[nodiscard]] std::string text() const {
    constexpr std::array ends{"value", "exception", "stop"};
    constexpr std::array stations{"before_start", "running", "waiting", "after_end", "never"};
    const auto at = [&](station one) { return std::string(stations[std::size_t(one)]); };
    return "ends by " + std::string(ends[std::size_t(end)]) + ", dropped " + at(dropped) +
           (awaited_early ? ", awaited early" : "") + ", aborted " + at(aborted) + ", shut down " +
           at(shut_down);
  }
};

/// What the task and the test share.
struct stage {
  explicit stage(ending how) : end(how) {}
  const ending end;
  ledger frames;   // a parameter and a local variable of the task
  ledger results;  // its value
  event started;
  event may_go_on;
  shared_gate at;
};

task<entry> play(stage& on, entry parameter) {
  const entry local(on.frames);
  on.started.set();
  on.may_go_on.wait();  // the worker is ours
  co_await shared_gate::wait(on.at);
  EXPECT_TRUE(parameter.whole() && local.whole());
  if (on.end == ending::exception) throw std::runtime_error("told to");
  if (on.end == ending::stop) {
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    co_await shared_gate::wait(on.at);
    ADD_FAILURE() << "went on after a stop";
  }
  co_return entry(on.results);
}

task<> wait_at(shared_gate& at) {
  co_await shared_gate::wait(at);
}

/// Looks at the frames when the end of the task is announced.
class watcher final : public skua::hooks {
public:
  explicit watcher(const stage& on) : on_(on) {}
  void task_spawned(std::uint64_t) override { ++spawned; }
  void task_ended(std::uint64_t id) override {
    ++ended;
    if (id == whom && on_.frames.alive != 0) ++too_early;
  }
  std::atomic<std::uint64_t> whom = 0;
  std::atomic<int> spawned = 0;
  std::atomic<int> ended = 0;
  std::atomic<int> too_early = 0;

private:
  const stage& on_;
};

class life {
public:
  life(const kind& kind, const plan& how) : kind_(kind), how_(how), on_(how.end), hooks_(on_) {}

  void run() {
    skua::config settings = skua_test::settings_of(kind_, log_);
    settings.hooks = &hooks_;
    runtime_.emplace(skua_test::started(settings));
    busy_.emplace(*runtime_, kind_);
    handle_.emplace(runtime_->spawn(play(on_, entry(on_.frames))));
    hooks_.whom = id_ = handle_->id();
    if (how_.awaited_early) waiter_ = std::thread([this] { skua::sync_wait(handle_->wait()); });
    for (const station now : all_stations) {
      if (now == station::never) break;
      reach(now);
      act(now);
    }
    if (how_.dropped == station::never) take_outcome();
    leave();
    check_books();
  }

private:
  void reach(station now) {
    const bool stopped = how_.stopped() < now;
    switch (now) {
      case station::running:
        busy_.reset();
        if (kind_.is_alone() && how_.shut_down >= now) drive(stopped);
        if (!stopped) on_.started.wait();
        break;
      case station::waiting:
        on_.may_go_on.set();
        if (!stopped) on_.at.await_waiters();
        break;
      case station::after_end:
        // A task that was asked to stop ends by that: opening could come first, and a value wins.
        if (!stopped) on_.at.open();
        while (!ended()) std::this_thread::yield();
        break;
      default:
        break;
    }
  }

  void act(station now) {
    if (how_.aborted == now) {
      EXPECT_EQ(handle_->abort(), how_.shut_down >= now && now != station::after_end);
      EXPECT_FALSE(handle_->abort()) << "somebody was first already";
    }
    if (how_.dropped == now) handle_.reset();
    if (how_.shut_down == now) {
      closer_ = std::thread([this] { EXPECT_TRUE(runtime_->shutdown().complete()); });
      while (!stop_is_known()) std::this_thread::yield();
    }
  }

  /// The thread of a current_thread runtime.
  void drive(bool nothing_blocks_it) {
    driver_ = std::thread([this] {
      try {
        runtime_->block_on(wait_at(driven_until_));
      } catch (const skua::task_cancelled&) {  // by the shutdown
      }
    });
    if (nothing_blocks_it) driven_until_.await_waiters();
  }

  [[nodiscard]] std::optional<skua::task_info> info() {
    for (const skua::task_info& one : runtime_->tasks())
      if (one.id == id_) return one;
    return std::nullopt;
  }
  [[nodiscard]] bool ended() {
    const auto seen = info();
    return !seen || seen->now == skua::task_info::state::ended;
  }
  [[nodiscard]] bool stop_is_known() {
    const auto seen = info();
    return !seen || seen->now == skua::task_info::state::ended || seen->stop_requested;
  }

  void take_outcome() {
    if (waiter_.joinable()) waiter_.join();
    EXPECT_TRUE(handle_->done());
    const skua::outcome<entry> got = skua::sync_wait(handle_->outcome());
    EXPECT_FALSE(handle_->valid());
    EXPECT_EQ(got.has_value(), how_.outcome() == ending::value);
    EXPECT_EQ(got.has_exception(), how_.outcome() == ending::exception);
    EXPECT_EQ(got.stopped(), how_.outcome() == ending::stop);
    EXPECT_EQ(on_.results.ended, 0) << "the value is the awaiter's now";
    EXPECT_TRUE(!got.has_value() || (*got).whole());
  }

  void leave() {
    driven_until_.open();
    if (driver_.joinable()) driver_.join();
    if (closer_.joinable()) closer_.join();
    runtime_.reset();
  }

  void check_books() {
    EXPECT_EQ(on_.started.times(), how_.starts() ? 1 : 0);
    EXPECT_TRUE(on_.frames.balanced(how_.starts() ? 2 : 1))
        << on_.frames.made << " made, " << on_.frames.ended << " ended, " << on_.frames.alive
        << " left, " << on_.frames.wrong << " wrong";
    EXPECT_TRUE(on_.results.balanced(how_.outcome() == ending::value ? 1 : 0))
        << on_.results.made << " made, " << on_.results.ended << " ended, " << on_.results.alive
        << " left, " << on_.results.wrong << " wrong";
    EXPECT_EQ(hooks_.too_early, 0) << "frames live when the end is told";
    EXPECT_EQ(hooks_.spawned, hooks_.ended);
    const bool unseen = how_.outcome() == ending::exception && how_.dropped != station::never;
    EXPECT_EQ(log_.count(skua_test::unseen_exception), unseen ? 1U : 0U);
    EXPECT_EQ(log_.size(), unseen ? 1U : 0U) << "nothing else is worth a record";
  }

  const kind kind_;
  const plan how_;
  log_recorder log_;
  stage on_;
  watcher hooks_;
  shared_gate driven_until_;
  std::optional<skua::runtime> runtime_;
  std::optional<busy_workers> busy_;
  std::optional<skua::join_handle<entry>> handle_;
  std::uint64_t id_ = 0;
  std::thread waiter_;
  std::thread driver_;
  std::thread closer_;
};

class lifecycle : public testing::TestWithParam<kind> {
protected:
  /// Every possible life with this end and this moment of shutdown; how many there are.
  static int live_all(ending end, station shut_down) {
    int lives = 0;
    for (const station dropped : all_stations)
      for (const bool awaited_early : {false, true})
        for (const station aborted : all_stations) {
          const plan how{end, dropped, awaited_early, aborted, shut_down};
          if (!how.possible()) continue;
          SCOPED_TRACE(how.text());
          life(GetParam(), how).run();
          ++lives;
          if (HasFailure()) return lives;
        }
    return lives;
  }

  static void live_all_endings(station shut_down) {
    int lives = 0;
    for (const ending end : all_endings) lives += live_all(end, shut_down);
    EXPECT_EQ(lives, 3 * 24);
  }
};

TEST_P(lifecycle, ends_once_in_a_runtime_that_goes_on) {
  live_all_endings(station::never);
}

TEST_P(lifecycle, ends_once_if_the_runtime_is_shut_down_before_its_start) {
  live_all_endings(station::before_start);
}

TEST_P(lifecycle, ends_once_if_the_runtime_is_shut_down_while_it_runs) {
  live_all_endings(station::running);
}

TEST_P(lifecycle, ends_once_if_the_runtime_is_shut_down_while_it_waits) {
  live_all_endings(station::waiting);
}

TEST_P(lifecycle, ends_once_if_the_runtime_is_shut_down_after_its_end) {
  live_all_endings(station::after_end);
}

INSTANTIATE_TEST_SUITE_P(runtimes, lifecycle, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
