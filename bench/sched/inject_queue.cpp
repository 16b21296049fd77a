// bench/sched/inject_queue.cpp: the shared queue, against a std::deque under a std::mutex.
//
// One thread: what the intrusive list and the readable length cost or save. A round is one item,
// pushed and popped: "one" by itself, "hundred" after 99 others. Time: run without arguments.
#include "sched/inject_queue.hpp"

#include "sched/items.hpp"
#include "skua/base/atomics.hpp"
#include "support/side_by_side.hpp"

#include <cstdlib>

namespace {

class shared_queue {
public:
  void push(skua::work& item) {
    if (!queue_.push(item)) std::abort();
  }
  skua::work* pop() { return queue_.pop(); }

private:
  skua::inject_queue<skua::std_atomics> queue_;
};

}  // namespace

int main(int argc, char** argv) {
  const comparison all[] = {
      {"one",
       1'000'000,
       {"inject_queue", through<shared_queue, 1>},
       {"mutex and deque", through<locked_deque, 1>}},
      {"hundred",
       1'000'000,
       {"inject_queue", through<shared_queue, 100>},
       {"mutex and deque", through<locked_deque, 100>}},
  };
  return side_by_side(argc, argv, "push and pop, shared queue", all);
}
