// examples/guide/channels.cpp: the code of docs/guide/channels.md.
#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;

// [snippet: mpsc]
skua::task<> produce(skua::mpsc::sender<int> to) {
  for (int i = 1; i <= 100; ++i) {
    const auto sent = co_await to.send(i);  // waits while eight are inside
    if (!sent) co_return;                   // nobody receives any more
  }
}  // the last sender is gone: the receiver sees the end

skua::task<int> consume() {
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  auto producer = skua::spawn(produce(std::move(tx)));
  int total = 0;
  while (auto number = co_await rx.receive()) total += *number;
  co_await std::move(producer);
  co_return total;
}
// [end]

// [snippet: select]
skua::task<int> work_until(skua::mpsc::receiver<int> jobs, skua::cancel_token over) {
  skua::interval tick(1s);
  int done = 0;
  for (;;) {
    auto event = co_await skua::select(jobs.receive(), tick.next(), over.wait());
    if (const auto* job = event.get<0>()) {
      if (!job->has_value()) co_return done;  // no more jobs
      done += **job;
    } else if (event.is<1>()) {
      std::printf("%d so far\n", done);
    } else {
      co_return done;  // called off
    }
  }
}
// [end]

// [snippet: oneshot]
skua::task<std::string> ask_elsewhere() {
  auto [tx, rx] = skua::oneshot::channel<std::string>();
  const auto answer_it = [](skua::oneshot::sender<std::string> answer) -> skua::task<> {
    (void)std::move(answer).send("42");
    co_return;
  };
  auto helper = skua::spawn(answer_it(std::move(tx)));
  const auto answer = co_await std::move(rx);
  co_await std::move(helper);
  co_return answer.value_or("nobody answered");
}
// [end]

// [snippet: broadcast]
skua::task<int> listen(skua::broadcast::receiver<std::string> news) {
  int heard = 0;
  for (;;) {
    const auto got = co_await news.receive();
    if (got.has_value())
      ++heard;
    else if (got.lagged() > 0)
      std::printf("missed %zu\n", static_cast<std::size_t>(got.lagged()));
    else
      co_return heard;  // the senders are gone
  }
}
// [end]

// [snippet: watch]
skua::task<int> follow(skua::watch::receiver<int> level) {
  int latest = *level.borrow();
  while (co_await level.changed()) latest = *level.borrow();  // not every value: the latest
  co_return latest;
}
// [end]

skua::task<int> tell_all() {
  auto [tx, rx] = skua::broadcast::channel<std::string>(16);
  auto one = skua::spawn(listen(tx.subscribe()));
  auto other = skua::spawn(listen(std::move(rx)));
  for (const char* text : {"one", "two", "three"}) tx.send(text);
  {
    const auto last = std::move(tx);
  }
  const int first = co_await std::move(one);
  co_return first + co_await std::move(other);
}

skua::task<int> amain() {
  const int total = co_await consume();
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  skua::cancel_source over;
  auto worker = skua::spawn(work_until(std::move(rx), over.token()));
  (void)co_await tx.send(20);
  (void)co_await tx.send(22);
  {
    const auto last = std::move(tx);
  }
  const int done = co_await std::move(worker);
  const std::string answer = co_await ask_elsewhere();
  const int heard = co_await tell_all();
  auto [set, get] = skua::watch::channel<int>(0);
  auto follower = skua::spawn(follow(std::move(get)));
  for (int level = 1; level <= 5; ++level) set.send(level);
  {
    const auto last = std::move(set);
  }
  const int level = co_await std::move(follower);
  const bool right = total == 5050 && done == 42 && answer == "42" && heard == 6 && level == 5;
  co_return right ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
