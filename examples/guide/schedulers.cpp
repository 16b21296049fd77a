// examples/guide/schedulers.cpp: the code of docs/guide/schedulers.md.
#include <skua/skua.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;

skua::task<int> amain() {
  co_await skua::yield();
  co_return 0;
}

class tree {
public:
  explicit tree(int depth) {
    if (depth == 0) return;
    left_ = std::make_unique<tree>(depth - 1);
    right_ = std::make_unique<tree>(depth - 1);
  }
  [[nodiscard]] bool is_leaf() const { return left_ == nullptr; }
  [[nodiscard]] const tree& left() const { return *left_; }
  [[nodiscard]] const tree& right() const { return *right_; }

private:
  std::unique_ptr<tree> left_;
  std::unique_ptr<tree> right_;
};

// [snippet: multi-thread]
int run_api() {
  auto rt = skua::runtime::builder().workers(4).name("api").build();
  if (!rt) return 1;  // rt.error() names the setting, or what the system refused
  return rt->block_on(amain());
}
// [end]

// [snippet: lifo]
skua::task<unsigned long> nodes(const tree& of) {
  if (of.is_leaf()) co_return 1UL;
  auto left = skua::spawn(nodes(of.left()));    // others steal this one, the oldest and largest
  auto right = skua::spawn(nodes(of.right()));  // this worker begins here
  const auto first = co_await std::move(left);
  co_return 1 + first + co_await std::move(right);
}

unsigned long count_nodes(const tree& all) {
  auto rt = skua::runtime::builder().order(skua::order::lifo).build();
  return rt.value().block_on(nodes(all));
}
// [end]

// [snippet: per-core]
auto start_shards() {
  return skua::runtime::builder()
      .flavour(skua::flavour::thread_per_core)
      .pinning(skua::pinning::to_each_cpu())  // if the machine is ours alone
      .build();
}
// [end]

int count_hits(int key) {
  return key * 2;
}
skua::task<> flush(int key) {
  (void)key;
  co_return;
}

// [snippet: messages]
skua::task<int> ask_shard(std::size_t shard, int key) {
  const int hits =
      co_await skua::run_on(shard, count_hits, key);  // call there, wait for the answer
  skua::spawn_on(shard, flush(key)).detach();         // send, and go on
  co_return hits;
}
// [end]

skua::task<skua::result<void>> echo(net::tcp_stream peer) {
  std::array<std::byte, 256> buffer;
  const std::size_t n = co_await skua::or_return(co_await peer.read(buffer));
  co_return co_await peer.write_all(std::span(buffer).first(n));
}

// [snippet: serve]
skua::task<> serve_all(skua::event& over) {  // accepted and served by one thread
  auto listeners = skua::or_throw(net::bind_for_each_worker("127.0.0.1:0"));
  const auto serve_mine = [&]() -> skua::task<> {
    auto& mine = listeners[*skua::this_worker()];
    skua::or_throw(co_await skua::serve(mine, echo, skua::serve_options(), over.wait()));
  };
  co_await skua::on_each_worker(serve_mine);
}
// [end]

skua::task<int> update(int user) {
  co_return user + 1;
}

// [snippet: hash]
int update_user(int user) {
  auto rt = skua::runtime::builder()
                .flavour(skua::flavour::thread_per_core)
                .dispatcher(skua::dispatch::hash())
                .build();
  auto done = rt.value().spawn_by(user, update(user));  // all of a user on one worker: no lock
  return skua::sync_wait(std::move(done));
}

struct background_elsewhere {  // worker 0 serves, the others do the rest
  std::size_t choose(const skua::placement& of) {
    if (of.workers() == 1 || of.here() == skua::placement::nowhere) return 0;
    return 1 + (next++ % (of.workers() - 1));
  }
  background_elsewhere() = default;
  background_elsewhere(const background_elsewhere& /*like*/) noexcept {}
  std::atomic<std::size_t> next = 0;  // any thread may ask, several at once
};
// [end]

// [snippet: current-thread]
int run_here() {
  auto rt = skua::runtime::builder().flavour(skua::flavour::current_thread).build();
  return rt.value().block_on(amain());
}

void let_a_day_pass() {
  skua::testing::virtual_time([]() -> skua::task<> {  // built on it: a day passes in no time
    co_await skua::sleep(24h);
  });
}
// [end]

std::size_t hash_password(const std::string& password) {
  return std::hash<std::string>()(password);
}

struct journal {
  void flush() { ++flushes; }
  int flushes = 0;
};

// [snippet: blocking]
skua::task<std::size_t> store_password(std::string password, journal& legacy) {
  const auto hash = co_await skua::spawn_blocking(hash_password, password);  // a thread of a pool
  skua::block_in_place([&] { legacy.flush(); });  // on this one, which is no worker meanwhile
  co_return hash;
}
// [end]

skua::task<> serve_for_a_moment() {
  skua::event over;
  over.set();
  co_await serve_all(over);
}

bool shards_work() {
  auto rt = start_shards();
  const int hits = rt.value().block_on(ask_shard(0, 21));
  rt.value().block_on(serve_for_a_moment());
  return hits == 42;
}

bool own_dispatcher_works() {
  auto rt = skua::runtime::builder()
                .flavour(skua::flavour::thread_per_core)
                .workers(2)
                .dispatcher(background_elsewhere())
                .build();
  return rt.value().block_on(amain()) == 0;
}

}  // namespace

int main() {
  const tree all(6);
  journal legacy;
  let_a_day_pass();
  const bool right = run_api() == 0 && run_here() == 0 && count_nodes(all) == 127 &&
                     shards_work() && update_user(1) == 2 && own_dispatcher_works() &&
                     skua::run(store_password("secret", legacy)) != 0 && legacy.flushes == 1;
  return right ? 0 : 1;
}
