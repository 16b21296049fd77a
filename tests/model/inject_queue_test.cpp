// tests/model/inject_queue_test.cpp: push, pop and close at once: refused or run, never lost.
#include "sched/inject_queue.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>

namespace {

using skua::work;
using skua_model::explorer;
using skua_model::limits;
using skua_model::plain;
using queue = skua::inject_queue<skua_model::atomics, skua_model::mutex, 1>;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
  plain<int> content;
  int taken = 0;
  bool refused = false;
};

void take(work* found) {
  if (found == nullptr) return;
  auto& one = static_cast<item&>(*found);
  explorer::expect(one.content.read() == 7, "the item is seen whole");
  explorer::expect(++one.taken == 1, "each item is taken once");
}

void close_against_push() {
  queue shared;
  std::array<item, 3> items;
  auto push = [&](std::size_t i) {
    items[i].content.write(7);
    items[i].refused = !shared.push(items[i]);
  };
  explorer::run({[&] {
                   push(0);
                   push(1);
                 },
                 [&] { take(shared.pop()); },
                 [&] {
                   explorer::expect(shared.close(), "closed by one");
                   push(2);
                 }});
  explorer::expect(items[2].refused, "nothing is accepted after the close");
  while (work* left = shared.pop()) take(left);
  for (const item& one : items)
    explorer::expect(one.taken == (one.refused ? 0 : 1), "accepted is run, refused is not");
}

void batches() {
  queue shared;
  std::array<item, 4> items;
  for (item& one : items) one.content.write(7);
  explorer::run({[&] {
                   skua::work_queue batch;
                   for (item& one : items) batch.push_back(one);
                   shared.push_batch(batch);
                 },
                 [&] {
                   std::array<work*, 3> some{};
                   static_cast<void>(shared.pop_batch(some));
                   for (work* const one : some) take(one);
                 },
                 [&] { take(shared.pop()); }});
  while (work* left = shared.pop()) take(left);
  for (const item& one : items) explorer::expect(one.taken == 1, "none is lost");
}

/// What `push` adds comes between others, and who takes single items may leave a part of it.
void three_and_one(queue& shared, const std::function<void(std::array<item, 4>&)>& push) {
  std::array<item, 4> items;
  for (item& one : items) one.content.write(7);
  explorer::run({[&] { push(items); },
                 [&] {
                   explorer::expect(shared.push(items[3]), "it is open");
                   std::array<work*, 2> some{};
                   static_cast<void>(shared.pop_batch(some));
                   for (work* const one : some) take(one);
                 },
                 [&] { take(shared.pop()); }});
  while (work* left = shared.pop()) take(left);
  for (const item& one : items) explorer::expect(one.taken == 1, "none is lost");
}

void blocks() {
  queue shared;
  three_and_one(shared, [&](std::array<item, 4>& items) {
    skua::work_block* const block = shared.take_block();
    for (std::size_t i = 0; i < 3; ++i) block->push_back(items[i]);
    shared.push_block(*block);
  });
}

/// They are put into a block that is there for them.
void one_by_one() {
  queue shared;
  shared.push_block(*shared.take_block());
  three_and_one(shared, [&](std::array<item, 4>& items) {
    for (std::size_t i = 0; i < 3; ++i) explorer::expect(shared.push(items[i]), "it is open");
  });
}

TEST(inject_queue_model, accepted_is_run_once_and_refused_is_not) {
  limits within;
  within.preemptions = 3;
  skua_model::expect_clean("close against push", within, close_against_push);
  skua_model::expect_clean("batches", within, batches);
  skua_model::expect_clean("blocks", within, blocks);
  skua_model::expect_clean("one by one", within, one_by_one);
}

TEST(inject_queue_model, deeper) {
  skua_model::expect_clean_as_far_as(4, {{"close against push", close_against_push},
                                         {"batches", batches},
                                         {"blocks", blocks},
                                         {"one by one", one_by_one}});
}

}  // namespace
