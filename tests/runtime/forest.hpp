// tests/runtime/forest.hpp: random trees of tasks, each of which is accounted for.
#pragma once

#include "skua/base/random.hpp"
#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace skua_test {

using tree_handle = skua::join_handle<std::uint64_t>;

/// How a tree's handle came out.
enum class ending : unsigned char { value, exception, stopped };

/// What a tree throws if it throws: its own number.
class fell : public std::exception {
public:
  explicit fell(std::size_t tree) noexcept : tree_(tree) {}
  [[nodiscard]] std::size_t tree() const noexcept { return tree_; }
  [[nodiscard]] const char* what() const noexcept override { return "a tree fell"; }

private:
  std::size_t tree_;
};

/// Trees are tasks. Each has a number and a record; whatever happens to a tree for the second time
/// that can happen once only is a failure at once, and verify() finds what did not happen at all.
///
/// Outlives its trees, and lives until verify(). Has a gate where trees wait, and threads of its
/// own that open it.
class forest {
public:
  /// What trees may do, by what their runtime can.
  struct habits {
    bool block_in_place = false;
    bool nest = false;  ///< block until a tree has ended: needs more threads than do so at once
  };

  /// A tree's witness lives in its frame: it is there from the call on, and gone with the frame.
  class witness {
  public:
    witness(forest& in, std::size_t tree) noexcept : in_(&in), tree_(tree) {
      in_->note(tree_, planted);
    }
    witness(witness&& from) noexcept : in_(std::exchange(from.in_, nullptr)), tree_(from.tree_) {}
    witness& operator=(witness&&) = delete;
    ~witness() {
      if (in_ != nullptr) in_->lost(tree_);
    }
    [[nodiscard]] forest& in() const noexcept { return *in_; }
    [[nodiscard]] std::size_t tree() const noexcept { return tree_; }

  private:
    forest* in_;
    std::size_t tree_;
  };

  /// A tree and the handle of its task.
  struct kept {
    tree_handle handle;
    std::size_t tree;
  };

  struct sums {
    std::uint64_t planted = 0, began = 0, finished = 0, threw = 0;
  };

  forest(std::uint64_t seed, std::size_t trees_max, habits can, watchdog& told)
      : may(can),
        seed_(seed),
        trees_max_(trees_max),
        told_(told),
        records_(std::make_unique<record[]>(trees_max)) {
    const std::size_t openers = 1 + (seed % 2);
    for (std::size_t i = 0; i < openers; ++i)
      openers_.emplace_back([this, i] { keep_opening(random_of(trees_max_ + i)); });
  }
  forest(const forest&) = delete;
  forest& operator=(const forest&) = delete;
  ~forest() {
    gate.open();
    for (std::thread& one : openers_) one.join();
  }

  /// Empty when the forest is full.
  std::optional<witness> plant() {
    // order: none; numbers.
    const std::size_t tree = next_.fetch_add(1, std::memory_order_relaxed);
    if (tree >= trees_max_) return std::nullopt;
    live_.fetch_add(1, std::memory_order_relaxed);
    return std::optional<witness>(std::in_place, *this, tree);
  }
  [[nodiscard]] bool full() const noexcept {
    // order: none; a guess.
    return next_.load(std::memory_order_relaxed) >= trees_max_;
  }

  /// Frames that are still there.
  [[nodiscard]] std::size_t live() const noexcept {
    // order: pairs with lost(): the frames' ends.
    return live_.load(std::memory_order_acquire);
  }

  [[nodiscard]] skua::random_generator random_of(std::size_t tree) const {
    return skua::random_generator(seed_ ^ (tree * 0x9e3779b97f4a7c15U));
  }

  // What trees and their friends tell.

  void begins(std::size_t tree) { note(tree, began); }
  void finishes(std::size_t tree) { note(tree, finished); }
  void throws(std::size_t tree) { note(tree, threw); }
  /// The handle of `tree` came out, and said so.
  void joins(std::size_t tree, ending how) {
    const std::uint32_t now = note(tree, joined);
    EXPECT_TRUE((now & gone) != 0) << "joined before its frame was gone";
    EXPECT_EQ((now & finished) != 0, how == ending::value) << "state " << now;
    EXPECT_EQ((now & threw) != 0, how == ending::exception) << "state " << now;
  }

  // Handles that anybody may take.

  void give(kept one) {
    const std::lock_guard hold(bag_mutex_);
    bag_.push_back(std::move(one));
  }
  std::optional<kept> take(std::uint64_t any) {
    const std::lock_guard hold(bag_mutex_);
    if (bag_.empty()) return std::nullopt;
    std::swap(bag_[any % bag_.size()], bag_.back());
    std::optional<kept> one(std::move(bag_.back()));
    bag_.pop_back();
    return one;
  }
  /// Those left in the bag; the trees have all ended.
  void expect_all_done() {
    const std::lock_guard hold(bag_mutex_);
    for (const kept& one : bag_) EXPECT_TRUE(one.handle.done());
  }
  void empty_bag() {
    const std::lock_guard hold(bag_mutex_);
    bag_.clear();
  }

  /// When all have ended.
  sums verify() {
    sums all;
    EXPECT_EQ(live(), 0U);
    // order: none; all have ended.
    all.planted = std::min(next_.load(std::memory_order_relaxed), trees_max_);
    for (std::size_t i = 0; i < all.planted; ++i) {
      // order: none; see above.
      const std::uint32_t now = records_[i].load(std::memory_order_relaxed);
      EXPECT_EQ(now & (planted | gone), planted | gone) << "tree " << i << " in state " << now;
      EXPECT_NE(now & (finished | threw), finished | threw) << "tree " << i << " ended twice";
      EXPECT_TRUE((now & began) != 0 || (now & (finished | threw)) == 0) << "tree " << i;
      all.began += (now & began) != 0;
      all.finished += (now & finished) != 0;
      all.threw += (now & threw) != 0;
    }
    return all;
  }

  shared_gate gate;
  const habits may;
  std::atomic<int> nested{0};              ///< threads that block until a tree has ended
  std::atomic<std::uint64_t> runtimes{0};  ///< made by trees and their friends

private:
  using record = std::atomic<std::uint32_t>;
  enum event : std::uint32_t {
    planted = 1,
    began = 2,
    finished = 4,
    threw = 8,
    joined = 16,
    gone = 32
  };

  /// Returns the state after it.
  std::uint32_t note(std::size_t tree, event what) {
    // order: none; the runtime orders a tree's events, and if it does not, this shows it.
    const std::uint32_t before = records_[tree].fetch_or(what, std::memory_order_relaxed);
    EXPECT_EQ(before & what, 0U) << "tree " << tree << ": event " << what << " came twice";
    return before | what;
  }

  void lost(std::size_t tree) {
    note(tree, gone);
    told_.progress();
    // order: pairs with live(). The last use of the forest by this tree.
    live_.fetch_sub(1, std::memory_order_release);
  }

  void keep_opening(skua::random_generator random) {
    while (gate.await_waiter()) {
      switch (random.below(8)) {
        case 0:
          gate.open_now();
          break;
        case 1:
          gate.open_one_cancelled();
          break;
        default:
          gate.open_one(random.next() | 1);
      }
    }
  }

  const std::uint64_t seed_;
  const std::size_t trees_max_;
  watchdog& told_;
  const std::unique_ptr<record[]> records_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> live_{0};
  std::mutex bag_mutex_;
  std::vector<kept> bag_;  // under the mutex
  std::vector<std::thread> openers_;
};

}  // namespace skua_test
