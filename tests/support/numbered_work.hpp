// tests/support/numbered_work.hpp: work items that know their number, for tests of workers' queues.
#pragma once

#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace skua_test {

struct numbered : skua::work {
  numbered() : work([](skua::work&) noexcept {}) {}
  int number = 0;
  std::atomic<int> taken = 0;
};

/// 64 of them, and what did not fit into the queue.
template <typename Queue>
class numbered_items : public testing::Test {
protected:
  numbered_items() {
    for (int i = 0; i < 64; ++i) items[i].number = i;
  }
  void push(Queue& to, int from, int count) {
    for (int i = from; i < from + count; ++i) to.push(items[i], overflow);
  }
  static std::string drain(Queue& from) {
    std::string numbers;
    while (skua::work* one = from.pop()) numbers += std::to_string(number_of(one)) + " ";
    return numbers;
  }
  std::string drain_overflow() {
    std::string numbers;
    while (!overflow.empty()) numbers += std::to_string(number_of(overflow.pop_front())) + " ";
    return numbers;
  }
  static int number_of(skua::work* one) { return static_cast<numbered*>(one)->number; }

  numbered items[64];
  skua::work_queue overflow;
};

}  // namespace skua_test
