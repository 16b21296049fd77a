// bench/io/nop.cpp: the cost of an operation that does nothing, through the kernel and back.
//
// "alone": a round is one co_await io::nop() by a task that has the runtime to itself, and so one
// system call. "crowd": 64 tasks do that, so that a call serves 64 rounds. Baseline: the same on a
// bare liburing with a ring of the same size and flags.
// Time: run without arguments. Instructions, of the user's side:
//   tools/instructions.py --only alone.current_thread build/release/bench/bench.io.nop
#include "io/bare_servers.hpp"
#include "skua/io/stream.hpp"
#include "skua/runtime/run.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/require.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

constexpr int crowd = 64;

skua::task<> nops(int rounds) {
  for (int i = 0; i < rounds; ++i) require((co_await skua::io::nop()).has_value(), "nop in a task");
}
template <int Tasks>
skua::task<unsigned long> spread(int rounds) {
  if constexpr (Tasks == 1) {
    co_await nops(rounds);
  } else {
    std::vector<skua::join_handle<void>> handles;
    handles.reserve(Tasks);
    for (int i = 0; i < Tasks; ++i) handles.push_back(skua::spawn(nops(rounds / Tasks)));
    for (auto& handle : handles) co_await std::move(handle);
  }
  co_return static_cast<unsigned long>(rounds);
}

// Started when first asked for and kept until the program ends: its start is not measured.
template <skua::flavour Flavour>
skua::runtime& kept() {
  static skua::runtime one = [] {
    skua::config settings;
    settings.flavour = Flavour;
    settings.workers = 1;
    settings.backend = skua::backend::uring;
    auto started = skua::runtime::start(settings);
    if (!started) skua::throw_start_error(started.error());
    return std::move(*started);
  }();
  return one;
}

template <int Tasks, skua::flavour Flavour>
unsigned long with_skua(int rounds) {
  return kept<Flavour>().block_on(spread<Tasks>(rounds));
}

template <int AtOnce>
unsigned long with_bare_uring(int rounds) {
  static bare::uring ring;
  unsigned long done = 0;
  for (int i = 0; i < AtOnce; ++i) io_uring_prep_nop(ring.next_entry());
  for (int left = rounds - rounds % AtOnce; left > 0;) {
    require(io_uring_submit_and_wait(ring.get(), 1) >= 0, "io_uring_submit_and_wait");
    unsigned head = 0;
    int taken = 0;
    io_uring_cqe* one = nullptr;
    io_uring_for_each_cqe(ring.get(), head, one) {
      require(one->res == 0, "nop in a ring");
      if (--left >= AtOnce) io_uring_prep_nop(ring.next_entry());
      ++taken;
    }
    io_uring_cq_advance(ring.get(), static_cast<unsigned>(taken));
    done += static_cast<unsigned long>(taken);
  }
  return done;
}

template <int Tasks>
void add(std::vector<comparison>& to, const std::string& name) {
  using enum skua::flavour;
  constexpr int rounds = 64'000;
  const side theirs{"bare", with_bare_uring<Tasks>};
  to.push_back(
      {name + ".current_thread", rounds, {"skua", with_skua<Tasks, current_thread>}, theirs});
  to.push_back({name + ".1_worker", rounds, {"skua", with_skua<Tasks, multi_thread>}, theirs});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  add<1>(all, "alone");
  add<crowd>(all, "crowd");
  return side_by_side(argc, argv, "nop", all);
}
