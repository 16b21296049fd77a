// tests/model/futex.hpp: sleep on a word, with deadlines and wakes for no reason.
#pragma once

#include "model/atomic.hpp"
#include "model/explorer.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace skua_model {

/// As the kernel's: looks at the word and goes to sleep in one step; a wake before that is not
/// remembered. Orders no memory.
///
/// A sleep with a deadline may end at any time. One without ends by a wake, or for no reason, which
/// a scenario allows a few times in each execution.
class futex {
public:
  static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

  /// How often a sleep may still end for no reason. A scenario sets it at its beginning.
  static inline int spurious_left = 0;

  static bool wait(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t deadline) {
    explorer& run = explorer::current();
    run.step();
    if (word.latest() != expected) return true;
    if (spurious_left > 0 && run.choose(2) == 1) {
      --spurious_left;
      return true;
    }
    sleeper self{.on = &word};
    asleep_.push_back(&self);
    if (deadline == no_deadline)
      run.block_until([&self] { return self.woken; }, "a futex");
    else
      run.block_for_a_while("a futex");
    std::erase(asleep_, &self);
    return self.woken;
  }

  static void wake_one(atomic<std::uint32_t>& word) {
    explorer& run = explorer::current();
    run.step();
    std::vector<sleeper*> able;
    for (sleeper* each : asleep_)
      if (each->on == &word && !each->woken) able.push_back(each);
    if (!able.empty()) able[run.choose(able.size())]->woken = true;
  }

private:
  struct sleeper {
    const atomic<std::uint32_t>* on;
    bool woken = false;
  };
  static inline std::vector<sleeper*> asleep_;  // empty between executions
};

}  // namespace skua_model
