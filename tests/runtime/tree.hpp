// tests/runtime/tree.hpp: a task that does at random what tasks can do.
#pragma once

#include "runtime/forest.hpp"
#include "skua/coro/task_cancelled.hpp"

namespace skua_test {

skua::task<std::uint64_t> grow(forest::witness me, unsigned depth);

/// Awaits the handle in one of the ways there are, and tells the forest how it came out.
inline skua::task<void> join(forest& in, forest::kept one, std::uint64_t any) {
  if (any % 3 == 0) co_await one.handle.wait();
  if (any % 2 == 0) {
    const skua::outcome<std::uint64_t> how = co_await one.handle.outcome();
    if (how) {
      EXPECT_EQ(*how, one.tree);
    }
    in.joins(one.tree, how                   ? ending::value
                       : how.has_exception() ? ending::exception
                                             : ending::stopped);
    co_return;
  }
  ending how = ending::value;
  try {
    const std::uint64_t value = co_await std::move(one.handle);
    EXPECT_EQ(value, one.tree);
  } catch (const fell& thrown) {
    EXPECT_EQ(thrown.tree(), one.tree);
    how = ending::exception;
  } catch (const skua::task_cancelled&) {
    how = ending::stopped;
  }
  in.joins(one.tree, how);
}

/// Blocks the calling thread until the tree has ended, in a runtime made for it.
inline void join_elsewhere(forest& in, forest::kept one, std::uint64_t any) {
  auto own = skua::runtime::builder()
                 .flavour(skua::flavour::current_thread)
                 .log(skua::logger::silent())
                 .build();
  ++in.runtimes;
  own->block_on(join(in, std::move(one), any));
}

/// A tree while it runs.
class tree {
public:
  static constexpr unsigned depth_max = 5;

  tree(const forest::witness& me, unsigned depth)
      : in_(me.in()), number_(me.tree()), depth_(depth), random_(in_.random_of(me.tree())) {}

  /// Everything that it does in its life.
  skua::task<void> live() {
    if (depth_ == 0 && random_.below(32) == 0)
      for (int i = 0; i < more_than_fit; ++i) spawn_child();
    const std::uint64_t steps = random_.below(depth_ == 0 ? 8 : 6);
    for (std::uint64_t i = 0; i < steps; ++i) co_await step();
    if (random_.below(24) == 0) {
      in_.throws(number_);
      throw fell(number_);
    }
  }

private:
  static constexpr int more_than_fit = 400;  // into a worker's ring

  skua::task<void> step() {
    switch (random_.below(32)) {
      case 0:
      case 1:
      case 2:
        co_await skua::yield();
        break;
      case 3:
        for (int i = 0; i < 20; ++i) co_await skua::consume_budget();
        break;
      case 4:
      case 5:
      case 6:
        co_await wait_at_gate();
        break;
      case 7:
      case 8:
      case 9:
      case 10:
      case 11:
        co_await join_one();
        break;
      case 12:
        if (!handles_.empty()) (void)take_handle();  // detaches it
        break;
      case 13:
      case 14:
        if (!handles_.empty()) handles_[random_.below(handles_.size())].handle.abort();
        break;
      case 15:
        if (!handles_.empty()) in_.give(take_handle());
        break;
      case 16:
        co_await block();
        break;
      case 17: {
        const std::stop_token asked = co_await skua::current_stop_token();
        if (asked.stop_requested()) (void)co_await skua::as_outcome(skua::yield());
        break;
      }
      default:
        spawn_child();
    }
  }

  skua::task<void> wait_at_gate() {
    const bool lets_go = random_.below(3) != 0;
    switch (random_.below(4)) {
      case 0:
        (void)co_await skua::as_outcome(shared_gate::wait(in_.gate, lets_go));
        break;
      case 1:
        co_await skua::shielded(shared_gate::wait(in_.gate, lets_go));
        break;
      default:
        co_await shared_gate::wait(in_.gate, lets_go);
    }
  }

  skua::task<void> join_one() {
    if (handles_.empty()) co_return;
    forest::kept one = take_handle();
    if (random_.below(8) == 0) one.handle.abort();
    co_await join(in_, std::move(one), random_.next());
  }

  /// Rare: each costs a change of threads or two.
  skua::task<void> block() {
    if (random_.below(8) != 0) co_return;
    if (in_.may.block_in_place && random_.below(2) == 0)
      skua::block_in_place([this] { errand(); });
    else
      co_await skua::spawn_blocking([](tree* self) { self->errand(); }, this);
    spawn_child();  // it is as much at home afterwards as before
  }

  /// On a thread that may block.
  void errand() {
    switch (random_.below(4)) {
      case 0:
        return spawn_child();
      case 1:
        return nest();
      default:
        for (std::uint64_t i = random_.below(2'000); i > 0; --i) asm volatile("");
    }
  }

  /// Waits for a tree that waits for none itself, since that one might need this thread.
  void nest() {
    constexpr int most = 16;
    if (!in_.may.nest) return;
    if (in_.nested.fetch_add(1) < most) {
      if (std::optional<forest::witness> one = in_.plant()) {
        const std::size_t number = one->tree();
        forest::kept waited_for{skua::spawn(grow(std::move(*one), depth_max)), number};
        join_elsewhere(in_, std::move(waited_for), random_.next());
      }
    }
    in_.nested.fetch_sub(1);
  }

  void spawn_child() {
    if (depth_ >= depth_max) return;
    std::optional<forest::witness> planted = in_.plant();
    if (!planted) return;
    const std::size_t number = planted->tree();
    auto child = grow(std::move(*planted), depth_ + 1);
    switch (random_.below(16)) {
      case 0:
        return keep(skua::spawn_background(std::move(child)), number);
      case 1:
        if (auto got = skua::try_spawn(std::move(child))) keep(std::move(*got), number);
        return;
      case 2:
        return spawn_at_home(std::move(child), number);
      case 3:
        return keep(skua::spawn(skua::named("a named tree", std::move(child))), number);
      default:
        return keep(skua::spawn(std::move(child)), number);
    }
  }

  void spawn_at_home(skua::task<std::uint64_t> child, std::size_t number) {
    try {
      keep(skua::spawn_local(std::move(child)), number);
    } catch (const std::logic_error&) {  // this thread is no worker, or not the worker's own
    }
  }

  void keep(tree_handle handle, std::size_t number) {
    forest::kept one{std::move(handle), number};
    switch (random_.below(8)) {
      case 0:
        return;  // detaches it
      case 1:
        one.handle.abort();
        break;
      default:
        break;
    }
    handles_.push_back(std::move(one));
  }

  forest::kept take_handle() {
    std::swap(handles_[random_.below(handles_.size())], handles_.back());
    forest::kept one = std::move(handles_.back());
    handles_.pop_back();
    return one;
  }

  forest& in_;
  const std::size_t number_;
  const unsigned depth_;
  skua::random_generator random_;
  std::vector<forest::kept> handles_;
};

inline skua::task<std::uint64_t> grow(forest::witness me, unsigned depth) {
  me.in().begins(me.tree());
  tree self(me, depth);
  co_await self.live();
  me.in().finishes(me.tree());
  co_return me.tree();
}

}  // namespace skua_test
