// tests/sync/property_test.cpp: random programs of the primitives do what a simple model does.
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/driven.hpp"
#include "support/manual_executor.hpp"
#include "sync/model_world.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <list>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using skua::task;
using skua_test::driven;
using skua_test::manual_executor;
using skua_test::model_world;
using skua_test::program;
using skua_test::step;

/// The primitives themselves, and the same words about what happened.
struct real_world {
  skua::mutex lock;
  skua::semaphore permits{skua_test::model_permits};
  skua::notify bell;
  skua::event door;
  std::pair<skua::mpmc::sender<std::size_t>, skua::mpmc::receiver<std::size_t>> channel =
      skua::mpmc::channel<std::size_t>(skua_test::model_capacity);
  std::string log;
};

/// What a task holds, given back in the opposite order, also when it is unwound.
class holdings {
public:
  holdings() = default;
  holdings(const holdings&) = delete;
  holdings& operator=(const holdings&) = delete;
  ~holdings() {
    while (!all_.empty()) give_back();
  }
  void add(skua::mutex::guard one) {
    all_.emplace_back(std::move(one));
    has_mutex_ = true;
  }
  void add(skua::semaphore::permit some) { all_.emplace_back(std::move(some)); }
  void give_back() {
    if (all_.empty()) return;
    if (std::holds_alternative<skua::mutex::guard>(all_.back())) has_mutex_ = false;
    all_.pop_back();
  }
  [[nodiscard]] bool has_mutex() const { return has_mutex_; }

private:
  std::vector<std::variant<skua::mutex::guard, skua::semaphore::permit>> all_;
  bool has_mutex_ = false;
};

/// Says how its task ended: before what it held is given back.
class ending {
public:
  ending(std::string& log, std::size_t who, const std::size_t& at)
      : log_(log), who_(who), at_(at) {}
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;
  ~ending() { log_ += std::to_string(who_) + ':' + std::to_string(at_) + how + ' '; }
  const char* how = "x";

private:
  std::string& log_;
  std::size_t who_;
  const std::size_t& at_;
};

task<std::string> take_step(real_world& world, step now, std::size_t message, holdings& held) {
  switch (now.what) {
    case step::kind::lock:
      if (held.has_mutex()) break;
      held.add(co_await world.lock.lock());
      co_return "l";
    case step::kind::unlock:
      held.give_back();
      break;
    case step::kind::acquire:
      held.add((co_await world.permits.acquire(now.amount)).value());
      co_return "a";
    case step::kind::send: {
      const auto sent = co_await world.channel.first.send(message);
      EXPECT_TRUE(sent.has_value());
      co_return "s";
    }
    case step::kind::receive: {
      const auto got = co_await world.channel.second.receive();
      co_return "r" + std::to_string(got.value());
    }
    case step::kind::notify_one:
      world.bell.notify_one();
      break;
    case step::kind::notify_all:
      world.bell.notify_all();
      break;
    case step::kind::wait:
      co_await world.bell.wait();
      co_return "w";
    case step::kind::set:
      world.door.set();
      break;
    case step::kind::reset:
      world.door.reset();
      break;
    case step::kind::wait_event:
      co_await world.door.wait();
      co_return "v";
    case step::kind::yield:
      break;
  }
  co_return ".";
}

task<> run(real_world& world, std::size_t who, const program& steps) {
  holdings held;
  std::size_t at = 0;
  ending end(world.log, who, at);
  while (at < steps.size()) {
    std::string what;
    if (steps[at].what == step::kind::yield) {
      world.log += std::to_string(who) + ':' + std::to_string(at) + "y ";
      ++at;
      co_await skua::yield();
      continue;
    }
    what = co_await take_step(world, steps[at], (who * 100) + at, held);
    world.log += std::to_string(who) + ':' + std::to_string(at) + what + ' ';
    ++at;
  }
  end.how = "e";
}

using randomness = std::minstd_rand;

program random_program(randomness& random) {
  using enum step::kind;
  constexpr step::kind kinds[] = {lock,  unlock,     unlock,     acquire,   acquire,
                                  send,  receive,    notify_one, wait,      set,
                                  reset, wait_event, yield,      notify_all};
  program made(random() % 12);
  for (step& one : made) {
    one.what = kinds[random() % std::size(kinds)];
    one.amount = 1 + (random() % skua_test::model_permits);
  }
  return made;
}

/// Both worlds, step by step, with stops at random; and in the end everybody is stopped.
void expect_the_same(unsigned seed) {
  randomness random(seed);
  std::vector<program> programs(1 + (random() % 6));
  for (program& one : programs) one = random_program(random);
  model_world model(programs);
  real_world real;
  manual_executor here;
  std::list<driven<void>> tasks;
  for (std::size_t i = 0; i < programs.size(); ++i)
    tasks.emplace_back(here, run(real, i, programs[i]));
  auto stop = [&](std::size_t who) {
    model.stop(who);
    std::next(tasks.begin(), static_cast<std::ptrdiff_t>(who))->request_stop();
  };
  for (;;) {
    if (random() % 16 == 0) stop(random() % programs.size());
    const bool more = model.run_one();
    ASSERT_EQ(here.run_one(), more) << "seed " << seed;
    ASSERT_EQ(real.log, model.log()) << "seed " << seed;
    if (!more) break;
  }
  for (std::size_t i = 0; i < programs.size(); ++i) {
    stop(i);
    while (model.run_one()) ASSERT_TRUE(here.run_one()) << "seed " << seed;
    ASSERT_FALSE(here.run_one()) << "seed " << seed;
  }
  ASSERT_EQ(real.log, model.log()) << "seed " << seed;
  for (const auto& one : tasks) ASSERT_TRUE(one.ended()) << "seed " << seed;
}

TEST(sync_property, random_programs_do_what_the_model_does) {
  unsigned seed = std::random_device()();
  std::printf("from seed %u\n", seed);
  const skua_test::budget time(2);
  long programs = 0;
  for (; time.left() && !HasFatalFailure(); ++seed, ++programs) expect_the_same(seed);
  std::printf("%ld programs\n", programs);
}

}  // namespace
