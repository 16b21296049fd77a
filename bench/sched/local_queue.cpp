// bench/sched/local_queue.cpp: a worker's own queue, against a std::deque under a std::mutex.
//
// Nobody steals and nobody waits. A round is one item, pushed and popped: "one" by itself,
// "hundred" after 99 others. Time: run without arguments.
#include "sched/local_queue.hpp"

#include "sched/items.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/work_queue.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

class own_queue {
public:
  void push(skua::work& item) { queue_.push(item, overflow_); }
  skua::work* pop() { return queue_.pop(); }

private:
  skua::local_queue<skua::std_atomics> queue_;
  skua::work_queue overflow_;
};

}  // namespace

int main(int argc, char** argv) {
  const comparison all[] = {
      {"one",
       1'000'000,
       {"local_queue", through<own_queue, 1>},
       {"mutex and deque", through<locked_deque, 1>}},
      {"hundred",
       1'000'000,
       {"local_queue", through<own_queue, 100>},
       {"mutex and deque", through<locked_deque, 100>}},
  };
  return side_by_side(argc, argv, "push and pop, own queue", all);
}
